import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, Time } from '#shared/kit/primitives'

/** A code as people write it, in any case. */
export const InviteCode = z.string('Code is required').trim().toUpperCase().min(1, 'Code is required').max(64)

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
