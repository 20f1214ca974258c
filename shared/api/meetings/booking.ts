import { z } from 'zod'
import { paymentRefusals, paymentStatuses } from '#shared/api/payments/payments'
import { EmailAddress } from '#shared/api/people/email'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  count,
  Link,
  Mail,
  Moment,
  maybe,
  nameLine,
  onceByKey,
  pageSize,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'

/** The name of a zone of the IANA database; whether it is known is looked up. */
export const Zone = z.string().regex(/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/, { error: 'Invalid timezone' })

/** `pending` is what is being paid for; `completed` what is over and was not cancelled. */
const callStatuses = ['pending', 'confirmed', 'cancelled', 'completed'] as const
const Status = z.enum(callStatuses)

/** A booked call, as its host and its booker see it. */
export const ScheduledCall = z.object({
  id: z.string(),
  /** The booker; null for a guest. */
  scheduler_wallet_address: z.string().nullable(),
  /** Who is called: the host. */
  recipient_wallet_address: z.string(),
  scheduled_at: Time,
  duration_minutes: z.number().int(),
  title: z.string(),
  status: Status,
  is_paid: z.boolean(),
  payment_required: z.boolean(),
  payment_amount_cents: z.number().int().nullable(),
  payment_transaction_hash: z.string().nullable(),
  payment_status: z.enum(['pending', 'paid', 'refunded']).nullable(),
  /**
   * The time until which an unbooked call's unclear payment can still be charged. The server does not charge it, unless the booker
   * sends it for another time of this host. Null for other calls.
   */
  payment_usable_until: Time.nullable(),
  /** What this service is owed of it: 1 % of the price, rounded up. */
  platform_fee_cents: z.number().int(),
  platform_fee_status: z.enum(['pending', 'waived']),
  guest_email: Mail.nullable(),
  guest_name: z.string().nullable(),
  /** The email that a booker with an account gave; their account's own address is not shown. */
  scheduler_email: Mail.nullable(),
  scheduler_name: z.string().nullable(),
  notes: z.string().nullable(),
  /** The reason that was given with the cancellation. */
  cancel_reason: z.string().nullable(),
  /** The booker's time zone. */
  timezone: z.string(),
  /** 32 hex digits, whose holders can see the call. */
  invite_token: z.string(),
  invite_sent_at: Time.nullable(),
  invite_opened_at: Time.nullable(),
  calendar_event_id: z.string().nullable(),
  created_at: Time,
  updated_at: Time,
})
export type ScheduledCall = z.output<typeof ScheduledCall>

const Party = z
  .object({
    wallet_address: z.string(),
    display_name: z.string().nullable(),
    username: z.string().nullable(),
    avatar: Link.nullable(),
  })
  .nullable()

const ListedCall = ScheduledCall.extend({ scheduler_user: Party, recipient_user: Party, is_host: z.boolean() })
export type ListedCall = z.output<typeof ListedCall>

const InvitedCall = ScheduledCall.pick({
  id: true,
  scheduled_at: true,
  duration_minutes: true,
  title: true,
  status: true,
  guest_name: true,
  guest_email: true,
  timezone: true,
  is_paid: true,
  recipient_wallet_address: true,
  cancel_reason: true,
  invite_token: true,
}).extend({ hostName: z.string() })

const EmailedTo = z.object({ email: Mail, type: z.enum(['guest', 'host']) })
export type EmailedTo = z.output<typeof EmailedTo>

const PublicSchedule = z.object({
  profile: z.object({
    walletAddress: z.string(),
    displayName: z.string(),
    username: z.string().nullable(),
    ensName: z.string().nullable(),
    avatarUrl: Link.nullable(),
    bio: z.string().nullable(),
    title: z.string().nullable(),
    slug: z.string().nullable(),
  }),
  scheduling: z.object({
    freeEnabled: z.boolean(),
    paidEnabled: z.boolean(),
    /** In minutes. */
    freeDuration: z.number().int(),
    paidDuration: z.number().int(),
    priceCents: z.number().int(),
    network: z.string(),
    payToAddress: z.string().nullable(),
    bufferMinutes: z.number().int(),
    advanceNoticeHours: z.number().int(),
    /** False where nothing carries out payments of this network here. */
    payable: z.boolean(),
    /** Payments are checked and settled nowhere. */
    simulated: z.boolean(),
  }),
  availability: z.object({
    windows: z.array(
      z.object({ dayOfWeek: z.number().int(), startTime: z.string(), endTime: z.string(), timezone: z.string() }),
    ),
    timezone: z.string(),
  }),
})
export type PublicSchedule = z.output<typeof PublicSchedule>

/** So long before a call begins its room is open: milliseconds. */
export const joinEarlyMilliseconds = 300_000

/** The room of a call, as in `meetings`: open to everybody with its code. */
const CallRoom = z.object({ roomId: z.string(), joinCode: z.string(), joinUrl: Link })

const InviteToken = z.string().regex(/^[0-9a-f]{32}$/, { error: 'Invalid token' })
const CallId = z.string().min(1).max(64)
const Title = nameLine(1, 100)
const words = ['BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED'] as const

export const booking = {
  schedule: operation({
    summary:
      'Book a call with somebody, at one of the times that they offer. Who is not signed in says their name and email. One that is paid for is paid by x402: without a payment, 402 says what it costs.',
    http: 'POST /api/scheduling/schedule',
    socket: '/notifications scheduling:schedule',
    access: 'public',
    limit: 'general',
    cost: 'judged',
    idempotency: onceByKey,
    headers: { 'x-payment': 'paymentHeader', 'payment-signature': 'paymentHeader' },
    input: z.object({
      recipientAddress: Address,
      scheduledAt: Moment,
      schedulerAddress: CallerAddress,
      /** UTC where none is named. */
      timezone: maybe(Zone),
      /** As long as the host offers; anything else is refused. */
      durationMinutes: maybe(count(1, 1_440)),
      title: maybe(Title),
      guestEmail: maybe(EmailAddress),
      guestName: maybe(nameLine(1, 50)),
      /** The same two, under other names. */
      schedulerEmail: maybe(EmailAddress),
      schedulerName: maybe(nameLine(1, 50)),
      notes: text(2_000).nullish(),
      /** Of the two kinds of calls, the one that is paid for, where the host takes it. */
      isPaid: maybe(z.boolean()),
      /** An x402 payment: the envelope of version 1 or 2, or its fields alone, as JSON or base64. It is valid for one booking. */
      paymentHeader: z.string().max(16_384).optional(),
      ...repeatable,
    }),
    output: ScheduledCall.extend({
      success: z.literal(true),
      scheduledCall: ScheduledCall.extend({ calendarEventId: z.string().nullable() }),
    }),
    errors: ['SCHEDULING_DISABLED', 'SLOT_TAKEN', 'BLOCKED', ...words, ...paymentRefusals],
    statuses: paymentStatuses,
    errorBody: 'text',
  }),
  calls: operation({
    summary:
      'The calls of the caller, as host or as who booked: `upcoming` and `current` ones the next first, all others the latest first.',
    http: 'GET /api/scheduling/list',
    socket: '/notifications scheduling:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      wallet_address: CallerAddress,
      /** `past` has begun or was cancelled. `current` is neither over nor cancelled, and so includes calls under way. */
      status: z.enum(['upcoming', 'current', 'past', ...callStatuses], { error: 'Invalid status' }).optional(),
      limit: pageSize(100, 50),
    }),
    output: z.object({ calls: z.array(ListedCall), total: z.number().int() }),
    errorBody: 'text',
  }),
  invited: operation({
    summary: 'The call of an invitation, for whoever has its token.',
    http: 'GET /api/scheduling/join/:token',
    socket: '/notifications scheduling:invited',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ token: InviteToken }),
    output: InvitedCall.extend({ call: InvitedCall }),
    errors: ['CALL_NOT_FOUND', 'MEETING_ENDED'],
    errorBody: 'text',
  }),
  join: operation({
    summary:
      'Enter a call by the token of its invitation, from five minutes before it begins until it is over: the room that all who come to it share, and that is over with it.',
    http: 'POST /api/scheduling/join/:token',
    socket: '/notifications scheduling:join',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ token: InviteToken }),
    output: CallRoom.extend({ success: z.literal(true), room: CallRoom }),
    errors: ['CALL_NOT_FOUND', 'MEETING_ENDED', 'BLOCKED'],
    errorBody: 'text',
  }),
  cancel: operation({
    summary:
      'Cancel a call that is not over: by its host, by who booked it, or, where a guest did, by whoever has the token of its invitation. Its time is free again. What was paid is not given back from here, as `payment` says.',
    http: 'PATCH /api/scheduling/calls/:id',
    socket: '/notifications scheduling:cancel',
    access: 'public',
    limit: 'general',
    cost: 'judged',
    whileSuspended: 'withdraws',
    input: z.object({
      id: CallId,
      status: z.literal('cancelled'),
      token: maybe(InviteToken),
      /** Shown to the other, who reads why. */
      reason: text(2_000).nullish(),
    }),
    output: z.object({
      success: z.literal(true),
      scheduledCall: ScheduledCall,
      /**
       * The state of its payment. `kept` was paid and stays with the host, as x402 has no refunds. `withdrawn` is never charged.
       * `unknown` may have been charged, and is not charged again. Null without a price.
       */
      payment: z.enum(['kept', 'withdrawn', 'unknown']).nullable(),
    }),
    errors: ['CALL_NOT_FOUND', 'ACCESS_DENIED', 'CALL_OVER', ...words],
    errorBody: 'text',
  }),
  createShareable: operation({
    summary:
      'Make a call of the caller, at any time to come that is free in their diary, whose link is given to whoever should join.',
    http: 'POST /api/scheduling/create-shareable',
    socket: '/notifications scheduling:create-shareable',
    access: 'user',
    limit: 'strict',
    cost: 'judged',
    idempotency: onceByKey,
    input: z.object({
      scheduledAt: Moment,
      /** 30 where no length is named. */
      durationMinutes: maybe(count(5, 1_440)),
      title: maybe(Title),
      /** UTC where none is named. */
      timezone: maybe(Zone),
      schedulerAddress: CallerAddress,
      ...repeatable,
    }),
    output: ScheduledCall.extend({
      success: z.literal(true),
      inviteToken: z.string(),
      scheduledCall: z.object({
        id: z.string(),
        scheduledAt: Time,
        title: z.string(),
        durationMinutes: z.number().int(),
      }),
    }),
    errors: ['SLOT_TAKEN', ...words],
    errorBody: 'text',
  }),
  invite: operation({
    summary:
      'Send the invitation of a call by email, as its host: to who booked it, at the address that they gave or `schedulerEmail`, and to the host, at their own or `recipientEmail`.',
    http: 'POST /api/scheduling/invite',
    socket: '/notifications scheduling:invite',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z
      .object({
        scheduledCallId: maybe(CallId),
        /** The same, under another name. */
        callId: maybe(CallId),
        recipientEmail: maybe(EmailAddress),
        schedulerEmail: maybe(EmailAddress),
      })
      .refine(({ scheduledCallId, callId }) => (scheduledCallId ?? callId) !== undefined, {
        error: 'scheduledCallId is required',
      }),
    output: z.object({ success: z.literal(true), emailsSent: z.array(EmailedTo) }),
    errors: ['CALL_NOT_FOUND', 'CALL_OVER'],
    errorBody: 'text',
  }),
  page: operation({
    summary: 'How somebody can be booked, as everybody may see it; by their address or username.',
    http: 'GET /api/public/schedule/:slug',
    socket: '/notifications scheduling:page',
    access: 'public',
    anyOrigin: true,
    limit: 'general',
    cost: 'cheap',
    input: z.object({ slug: z.string().trim().min(1).max(160) }),
    output: PublicSchedule,
    errors: ['USER_NOT_FOUND', 'SCHEDULING_DISABLED'],
    errorBody: 'text',
  }),
  pageBySlug: operation({
    summary: 'The same, by the slug that they have chosen.',
    http: 'GET /api/public/cal/:slug',
    socket: '/notifications scheduling:page-by-slug',
    access: 'public',
    anyOrigin: true,
    limit: 'general',
    cost: 'cheap',
    input: z.object({ slug: z.string().regex(/^[a-z0-9-]{3,30}$/, { error: 'Invalid slug' }) }),
    output: PublicSchedule,
    errors: ['USER_NOT_FOUND', 'SCHEDULING_DISABLED'],
    errorBody: 'text',
  }),
}

export const scheduledCallChanged = event('/notifications scheduling:call', {
  summary: 'A call of yours was booked or cancelled: you are its host, or have booked it.',
  audience: 'account',
  payload: z.object({ call: ScheduledCall }),
})
export const bookingEvents = { scheduledCallChanged }
