import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  count,
  Done,
  Moment,
  maybe,
  onceByKey,
  pageSize,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'

/** A code as people write it, in any case. */
const InviteCode = z.string('Code is required').trim().toUpperCase().min(1, 'Code is required').max(64)

const Invite = z.object({
  id: z.string(),
  owner_address: z.string(),
  /** Eight digits of hexadecimal. */
  code: z.string(),
  used_by: z.string().nullable(),
  /** The display name of its user. */
  used_by_name: z.string().nullable(),
  used_at: Time.nullable(),
  is_active: z.boolean(),
  created_at: Time,
})
export type Invite = z.infer<typeof Invite>

export const invites = {
  list: operation({
    summary: 'The invites of the caller, each a code that is good for one newcomer; those that are missing are made.',
    http: 'GET /api/invites',
    socket: '/notifications invites:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress }),
    output: z.object({
      invites: z.array(Invite),
      totalAllocation: z.number().int(),
      used: z.number().int(),
      available: z.number().int(),
    }),
    errorBody: 'text',
  }),
  redeem: operation({
    summary:
      'Use the code of somebody who invites the caller: both are given points. An account uses one invite ever; the same once more changes nothing.',
    http: 'POST /api/invites',
    socket: '/notifications invites:redeem',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ code: InviteCode, redeemerAddress: CallerAddress }),
    output: z.object({
      success: z.literal(true),
      message: z.string(),
      /** The account that invites. */
      inviter: z.string(),
    }),
    errors: ['INVALID_INVITE', 'OWN_INVITE'],
    audit: true,
    errorBody: 'text',
  }),
}

const Code = z.object({
  id: z.string(),
  code: z.string(),
  created_by: z.string(),
  /** 0 is any number. */
  max_uses: z.number().int(),
  current_uses: z.number().int(),
  expires_at: Time.nullable(),
  is_active: z.boolean(),
  note: z.string().nullable(),
  created_at: Time,
})

const Note = text(500)

/** Codes of admins, which invite many. */
export const inviteCodes = {
  list: operation({
    summary: 'The codes that admins made, newest first, each with the 100 who used it last.',
    http: 'GET /api/admin/invite-codes',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      page: count(1, 10_000).default(1),
      limit: pageSize(50),
      activeOnly: z.boolean().default(false),
    }),
    output: z.object({
      codes: z.array(Code.extend({ usedBy: z.array(z.object({ used_by: z.string(), used_at: Time })) })),
      total: z.number().int(),
      page: z.number().int(),
      limit: z.number().int(),
      totalPages: z.number().int(),
    }),
    errorBody: 'text',
  }),
  create: operation({
    summary:
      'Make a code that invites so many, or any number (0). Who uses it is given points; who made it is given none.',
    http: 'POST /api/admin/invite-codes',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      maxUses: count(0, 10_000).default(1),
      expiresAt: maybe(Moment),
      note: Note.nullish(),
      /** Anybody can guess it who can guess these words. */
      customCode: maybe(
        InviteCode.regex(/^[A-Z0-9_-]{4,32}$/, { error: 'A code is 4 to 32 letters, digits, hyphens or underscores' }),
      ),
    }),
    output: z.object({ success: z.literal(true), code: Code }),
    errors: ['INVITE_CODE_EXISTS'],
    audit: true,
    errorBody: 'text',
  }),
  update: operation({
    summary: 'Turn a code of admins off or on, or change the note about it; null takes the note away.',
    http: 'PATCH /api/admin/invite-codes',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ code: InviteCode, isActive: z.boolean().optional(), note: Note.nullish() }),
    output: Done,
    errors: ['NOT_FOUND'],
    audit: true,
    errorBody: 'text',
  }),
  remove: operation({
    summary: 'Delete a code of admins. Who used it stays invited.',
    http: 'DELETE /api/admin/invite-codes',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ code: InviteCode }),
    output: Done,
    errors: ['NOT_FOUND'],
    audit: true,
    errorBody: 'text',
  }),
  grant: operation({
    summary: 'Let an account invite more people; never one’s own.',
    http: 'POST /api/admin/grant-invites',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ ...repeatable, walletAddress: Address, additionalInvites: count(1, 1_000) }),
    output: z.object({ success: z.literal(true), message: z.string(), newTotal: z.number().int() }),
    errors: ['USER_NOT_FOUND'],
    audit: 'walletAddress',
    errorBody: 'text',
  }),
}
