import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  clearable,
  count,
  Done,
  Link,
  line,
  maybe,
  nameLine,
  OneEmoji,
  pageSize,
  text,
} from '#shared/kit/primitives'
import {
  Admin,
  ContactsFrom,
  OwnProfile,
  platforms,
  Role,
  Social,
  status,
  Username,
  UserRecord,
} from './account-records.ts'

const HttpsUrl = z
  .url({ protocol: /^https$/, error: 'Invalid https URL' })
  .max(2048)
  .refine((value) => /^https:\/\/[^@\s]+$/i.test(value), { error: 'Invalid https URL' })

const Named = z.object({ username: Username })
const Found = z.object({ username: z.string(), address: z.string() })

const names = {
  username: operation({
    summary: 'The username of an account.',
    http: 'GET /api/username',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: Address }),
    output: z.object({ username: z.string().nullable(), wallet_address: z.string() }),
    errorBody: 'text',
  }),
  claimUsername: operation({
    summary: 'Takes a username; the one held before is free again.',
    http: 'POST /api/username',
    aliases: [{ http: 'POST /api/username/claim' }],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ username: Username, address: CallerAddress }),
    output: z.object({ success: z.literal(true), username: z.string(), isNew: z.boolean() }),
    errors: ['USERNAME_TAKEN', 'USER_NOT_FOUND'],
    errorBody: 'text',
  }),
  releaseUsername: operation({
    summary: 'Gives the username up.',
    http: 'DELETE /api/username',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress }),
    output: Done,
    errorBody: 'text',
  }),
  resolveUsername: operation({
    summary: 'The account that holds a username.',
    http: 'GET /api/username/resolve',
    aliases: [
      {
        http: 'GET /api/username/lookup',
        answer: { schema: Found.pick({ address: true }), of: ({ address }) => ({ address }) },
      },
    ],
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: Named,
    output: Found,
    errors: ['USER_NOT_FOUND'],
    errorBody: 'text',
  }),
  checkUsername: operation({
    summary: 'Whether a username can be taken.',
    http: 'GET /api/username/check',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: Named,
    output: z.object({ available: z.boolean(), username: z.string() }),
    errorBody: 'text',
  }),
}

export const PublicPage = z.object({
  user: z.object({
    address: z.string(),
    name: z.string(),
    username: z.string().nullable(),
    ensName: z.string().nullable(),
    avatarUrl: Link.nullable(),
    bio: z.string().nullable(),
    is_bot: z.boolean(),
    ...status,
  }),
  socials: z.array(z.object({ platform: z.string(), handle: z.string(), url: Link })),
  /** Those that everybody may talk to, the newest first, at most 50. */
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      personality: z.string(),
      avatar_emoji: z.string(),
      avatar_url: Link.nullable(),
      visibility: z.literal('public'),
    }),
  ),
  /** Where calls are booked: `/schedule/<slug>`, or the address where there is no slug; null where they are not. */
  scheduling: z
    .object({ slug: z.string().nullable(), title: z.string().nullable(), bio: z.string().nullable() })
    .nullable(),
})

const profiles = {
  publicUser: operation({
    summary: 'What everybody may know of an account.',
    http: 'GET /api/public/user',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: Address }),
    output: z.object({
      user: z
        .object({
          username: z.string().nullable(),
          display_name: z.string().nullable(),
          ens_name: z.string().nullable(),
          avatar_url: Link.nullable(),
          is_bot: z.boolean(),
          ...status,
        })
        .nullable(),
    }),
    errorBody: 'text',
  }),
  publicProfile: operation({
    summary:
      'The public page of an account that has turned it on, by address or username, with its public agents and where calls are booked.',
    http: 'GET /api/public/user/:address',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: text(160) }),
    output: PublicPage,
    errors: ['USER_NOT_FOUND'],
    errorBody: 'text',
  }),
  ownProfile: operation({
    summary: 'How the caller is shown, with what is theirs alone to change.',
    http: 'GET /api/user/profile',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress }),
    output: z.object({
      user: OwnProfile,
      /** The reason that admins gave when they suspended the account; null if there is none. */
      suspension_reason: z.string().nullable(),
    }),
    errors: ['USER_NOT_FOUND'],
    errorBody: 'text',
  }),
  updateProfile: operation({
    summary: 'Changes how the caller is shown; null clears a field.',
    http: 'PATCH /api/user/profile',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      username: Username.nullish(),
      display_name: nameLine(1, 50).nullish(),
      avatar_url: HttpsUrl.nullish(),
      custom_avatar_url: HttpsUrl.nullish(),
      use_custom_avatar: z.boolean().optional(),
      bio: text(280).nullish(),
      socials: z
        .array(Social)
        .max(platforms.length)
        .refine((socials) => new Set(socials.map(({ platform }) => platform)).size === socials.length, {
          error: 'One handle for each platform',
        })
        .optional(),
      public_landing_enabled: z.boolean().optional(),
      findable_by_phone: z.boolean().optional(),
      email_updates_opt_in: maybe(z.boolean()),
      status_emoji: clearable(OneEmoji).optional(),
      status_text: nameLine(0, 80).nullish(),
      do_not_disturb: maybe(z.boolean()),
      /** The accounts that may call this one; friends by default. */
      calls_from: maybe(ContactsFrom),
      /** The accounts that may start a conversation with this one; everyone by default. */
      messages_from: maybe(ContactsFrom),
      /** The accounts that may invite this one to rooms; everyone by default. */
      invites_from: maybe(ContactsFrom),
      address: CallerAddress,
    }),
    output: z.object({ success: z.literal(true), user: OwnProfile }),
    errors: ['USERNAME_TAKEN', 'USER_NOT_FOUND'],
    errorBody: 'text',
  }),
}

const standing = {
  suspension: operation({
    summary: 'Whether an account is suspended.',
    http: 'GET /api/admin/ban',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: Address }),
    output: z.object({ isBanned: z.boolean(), banReason: z.string().nullable() }),
    errorBody: 'text',
  }),
  suspend: operation({
    summary: 'Suspends an account everywhere, or lifts the suspension.',
    http: 'POST /api/admin/ban',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ userAddress: Address, ban: z.boolean(), reason: line(0, 500).nullish() }),
    output: z.object({ success: z.literal(true), banned: z.boolean() }),
    audit: 'userAddress',
    errorBody: 'text',
  }),
  admins: operation({
    summary: 'The admins and super admins.',
    http: 'GET /api/admin/admins',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ admins: z.array(Admin) }),
    errorBody: 'text',
  }),
  grantAdmin: operation({
    summary: 'Makes an account admin or super admin; super admins only.',
    http: 'POST /api/admin/admins',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ walletAddress: Address, makeSuperAdmin: z.boolean().default(false) }),
    output: z.object({ success: z.literal(true), role: Role }),
    freshProof: { unless: [] },
    errors: ['USER_NOT_FOUND'],
    audit: 'walletAddress',
    errorBody: 'text',
  }),
  revokeAdmin: operation({
    summary: 'Makes an admin a user again; super admins only, and never themselves.',
    http: 'DELETE /api/admin/admins',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: Address }),
    output: Done,
    freshProof: { unless: [] },
    audit: 'address',
    errorBody: 'text',
  }),
  users: operation({
    summary: 'Accounts, a page at a time; `search` is an exact address, or the start of a username or of a shown name.',
    http: 'GET /api/admin/users',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      page: count(1, 10_000).default(1),
      limit: pageSize(100, 50),
      /** A name made for people without one is found among the newest 2,000 accounts. */
      search: text(160).optional(),
      sortBy: z.enum(['last_login', 'created_at', 'login_count', 'username']).default('last_login'),
      sortOrder: z.enum(['asc', 'desc']).default('desc'),
      betaAccessFilter: z.enum(['has_access', 'applied', 'neither']).optional(),
    }),
    output: z.object({
      users: z.array(UserRecord),
      total: z.number(),
      page: z.number(),
      limit: z.number(),
      totalPages: z.number(),
    }),
    errorBody: 'text',
  }),
  updateUser: operation({
    summary:
      'Changes what admins decide of an account: its suspension, their notes, and whether it may make agents while these are in beta.',
    http: 'PATCH /api/admin/users',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      userAddress: Address,
      updates: z.object({
        is_banned: z.boolean().optional(),
        ban_reason: line(0, 500).nullish(),
        notes: text(2_000).nullish(),
        beta_access: z.boolean().optional(),
      }),
    }),
    output: Done,
    errors: ['USER_NOT_FOUND'],
    audit: 'userAddress',
    errorBody: 'text',
  }),
}

export const accounts = { ...names, ...profiles, ...standing }
