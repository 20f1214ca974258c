import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { isVisible, onceByKey, repeatable, Time, text } from '#shared/kit/primitives'

export const broadcastLength = 2_000
export const broadcastTargets = ['all_users', 'friends'] as const
export type BroadcastTarget = (typeof broadcastTargets)[number]
const Target = z.enum(broadcastTargets, { error: `target: one of ${broadcastTargets.join(', ')}` })

const figure = z.number().int()
const counts = {
  /** Accounts that have the message. */
  sent: figure,
  /** Accounts that refused it, as by a block of its sender, or that failed after several tries. */
  failed: figure,
  /** Of those who have it, who has a browser that Web Push reaches. */
  pushSent: figure,
  /** All recipients: `sent` and `failed` once it is finished. Erased and suspended accounts do not count. */
  total: figure,
  target: Target,
}

const Broadcast = z.object({
  id: z.string(),
  message: z.string(),
  ...counts,
  created_by: z.string(),
  created_at: Time,
  /** Null while it is being sent. */
  finished_at: Time.nullable(),
})

const ofAdmins = { access: 'admin', limit: 'general', cost: 'cheap', errorBody: 'text' } as const

export const broadcasts = {
  send: operation({
    summary:
      'Tells every account something, from Plaza, or each friend of the caller, from the caller: each by a direct message of type `system`, which is in clear, and which nobody else sees. The first 50 have it when this is answered; the others are told after it, and `GET /api/admin/broadcast` says how far that is. Five an hour.',
    http: 'POST /api/admin/broadcast',
    ...ofAdmins,
    cost: 'judged',
    audit: true,
    idempotency: onceByKey,
    input: z.object({
      message: text(broadcastLength).refine(isVisible, { error: 'message is required' }),
      target: Target,
      ...repeatable,
    }),
    output: z.object({ success: z.literal(true), id: z.string(), ...counts }),
    errors: ['BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED'],
  }),
  read: operation({
    summary: 'How many people a broadcast of the caller would be told to now, and the last ten, the newest first.',
    http: 'GET /api/admin/broadcast',
    ...ofAdmins,
    input: z.object({ target: Target.default('all_users') }),
    output: z.object({ target: Target, total: figure, broadcasts: z.array(Broadcast) }),
  }),
}
