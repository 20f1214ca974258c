import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  Cursor,
  count,
  Id,
  Link,
  Moment,
  maybe,
  onceByKey,
  pageSize,
  repeatable,
  Time,
} from '#shared/kit/primitives'

/** A call that nobody has answered after so long is missed. */
export const ringSeconds = 60
/** The longest a call may have taken. */
export const longestCallSeconds = 86_400

/**
 * `ringing` and `active` calls are open; other states are final. Only the callee can make a ringing call `active` or `declined`.
 * Either side can make it `missed`, `failed` or `completed`.
 */
const callStatuses = ['ringing', 'active', 'completed', 'missed', 'declined', 'failed'] as const
export type CallStatus = (typeof callStatuses)[number]
const Status = z.enum(callStatuses, { error: 'Invalid status' })

/** One of the two, as they are shown now. */
const Party = z.object({
  address: z.string(),
  username: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar_url: Link.nullable(),
})

export const Call = z.object({
  id: z.string(),
  caller_address: z.string(),
  callee_address: z.string(),
  call_type: z.enum(['audio', 'video']),
  status: Status,
  started_at: Time,
  /** Null while it goes on, and where nobody has said when it ended. */
  ended_at: Time.nullable(),
  /** Between answer and end. 0 of a call that was never answered. */
  duration_seconds: z.number().int(),
  channel_name: z.string().nullable(),
  created_at: Time,
  caller: Party,
  callee: Party,
})
export type Call = z.infer<typeof Call>

/** What the two clients meet by; people do not read it. */
const ChannelName = z.string().regex(/^[\w.:@~-]{1,200}$/, { error: 'Invalid channelName' })
const Duration = count(0, longestCallSeconds)

export const calls = {
  list: operation({
    summary:
      'The calls in which the caller is one of the two, newest first. `next` continues as `before`; it is null at the end.',
    http: 'GET /api/calls',
    socket: '/notifications call:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress, limit: pageSize(100, 50), before: Cursor.optional() }),
    output: z.object({ calls: z.array(Call), next: z.string().nullable() }),
  }),
  start: operation({
    summary:
      'Ring somebody, by the status `ringing`, or note a call that is over. The devices of the callee hear `incoming_call` of one that rings. Who is in a meeting of this server is not rung: the call is `missed` at once. Whose `calls_from` does not let the caller ring is not told of a note either.',
    http: 'POST /api/calls',
    socket: '/notifications call:start',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({
      callerAddress: CallerAddress,
      calleeAddress: Address,
      callType: z.enum(['audio', 'video'], { error: 'callType must be audio or video' }),
      status: Status.exclude(['active']),
      channelName: maybe(ChannelName),
      startedAt: maybe(Moment),
      endedAt: maybe(Moment),
      durationSeconds: maybe(Duration),
      ...repeatable,
    }),
    output: z.object({ call: Call }),
    errors: ['USER_NOT_FOUND', 'BLOCKED'],
  }),
  change: operation({
    summary:
      'Answer or decline a call, or say how and when it ended. It ends now where no time is named; what has ended stays as it is, but for a note of one that was missed, declined or failed.',
    http: 'PATCH /api/calls',
    socket: '/notifications call:change',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      callId: Id,
      status: Status.exclude(['ringing']).optional(),
      endedAt: maybe(Moment),
      durationSeconds: maybe(Duration),
    }),
    output: z.object({ call: Call }),
    errors: ['ACCESS_DENIED', 'BLOCKED'],
  }),
}

export const incomingCall = event('/notifications incoming_call', {
  summary: `Somebody rings you, for ${ringSeconds} seconds at most.`,
  audience: 'account',
  payload: z.object({ from: z.string(), channelName: z.string().nullable(), call: Call }),
})
export const callChanged = event('/notifications call:changed', {
  summary: 'A call of yours was begun, answered or ended, on this device or another, or by the other person.',
  audience: 'account',
  payload: z.object({ call: Call }),
})
export const callEvents = { incomingCall, callChanged }
