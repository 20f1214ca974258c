import { z } from 'zod'
import { Link, Time } from '#shared/kit/primitives'

export const Role = z.enum(['user', 'admin', 'super_admin'])

/** A name to be found by: lower case ASCII, so that no two look alike. A leading `@` is left out. */
export const Username = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^@?[a-z0-9_]{3,20}$/, { error: 'A username is 3 to 20 letters, digits or underscores' })
  .transform((name) => name.replace('@', ''))

/** Where people are known beside here. */
export const platforms = ['x', 'farcaster', 'instagram', 'tiktok', 'youtube', 'linkedin', 'github', 'discord'] as const
export type Platform = (typeof platforms)[number]

const Handle = z
  .string()
  .trim()
  .regex(/^@?\w[\w.-]{0,63}$/, { error: 'Invalid handle' })
  .transform((handle) => handle.replace('@', ''))

export const Social = z.object({ platform: z.enum(platforms), handle: Handle })
export type Social = z.infer<typeof Social>

/** What somebody says of the moment; shown beside the name, and not while the account is suspended. */
export const status = { status_emoji: z.string().nullable(), status_text: z.string().nullable() }

const contactsAllowed = ['friends', 'everyone', 'nobody'] as const
export const ContactsFrom = z.enum(contactsAllowed)
export type ContactsFrom = z.infer<typeof ContactsFrom>

const Profile = z.object({
  address: z.string(),
  name: z.string(),
  username: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar_url: Link.nullable(),
})

/** With what the owner alone may read and change. */
export const OwnProfile = Profile.extend({
  wallet_address: z.string(),
  displayName: z.string().nullable(),
  bio: z.string().nullable(),
  socials: z.array(z.object({ platform: z.enum(platforms), handle: z.string() })),
  /** Shown as `avatar_url` while `use_custom_avatar` is on. */
  custom_avatar_url: Link.nullable(),
  use_custom_avatar: z.boolean(),
  /** Whether `/api/public/user/:address` answers. */
  public_landing_enabled: z.boolean(),
  /** Whether anybody who knows the verified number finds the account; friends always do. */
  findable_by_phone: z.boolean(),
  /** Whether the account wants emails with news; on once it verifies an address. */
  email_updates_opt_in: z.boolean(),
  ...status,
  /** Browsers get no notices while it is on. */
  do_not_disturb: z.boolean(),
  /** The accounts that may call this one. */
  calls_from: ContactsFrom,
  /** The accounts that may start a conversation with this one. */
  messages_from: ContactsFrom,
  /** The accounts that may invite this one to rooms, or add it to them. */
  invites_from: ContactsFrom,
})

const figure = z.number().int()

/** What can be counted of an account: friends and rooms as they are now, the rest as it ever was. */
const counters = {
  friends_count: figure,
  groups_count: figure,
  channels_joined: figure,
  /** With those that were missed. */
  total_calls: figure,
  streams_created: figure,
  streams_started: figure,
  streams_ended: figure,
}
export type Counters = { [Name in keyof typeof counters]: number }

/** As admins see an account: without its address of e-mail. */
export const UserRecord = z.object({
  id: z.string(),
  wallet_address: z.string(),
  wallet_type: z.string().nullable(),
  chain: z.string().nullable(),
  username: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar_url: Link.nullable(),
  /** Null until it is fixed. */
  smart_wallet_address: z.string().nullable(),
  email_verified: z.boolean(),
  email_updates_opt_in: z.boolean(),
  subscription_tier: z.literal('free'),
  subscription_expires_at: Time.nullable(),
  role: Role,
  is_banned: z.boolean(),
  ban_reason: z.string().nullable(),
  /** What admins note for one another. */
  notes: z.string().nullable(),
  beta_access: z.boolean(),
  beta_access_applied: z.boolean(),
  beta_access_applied_at: Time.nullable(),
  points: z.number(),
  /** How many others it may invite, and how many it has. */
  invite_count: z.number(),
  invites_used: z.number(),
  /** The invite code that the account used, and its inviter; admins' codes have none. */
  invite_code_used: z.string().nullable(),
  referred_by: z.string().nullable(),
  first_login: z.string().nullable(),
  last_login: z.string().nullable(),
  login_count: z.number(),
  last_active_at: Time.nullable(),
  created_at: Time,
  updated_at: Time,
  ...counters,
})

export const Admin = z.object({
  wallet_address: z.string(),
  name: z.string(),
  role: Role,
  is_super_admin: z.boolean(),
})
