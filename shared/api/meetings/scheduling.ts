import { z } from 'zod'
import { paymentNetworks } from '#shared/api/payments/payment-networks'
import { operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  clearable,
  count,
  Done,
  Id,
  Moment,
  nameLine,
  onceByKey,
  PayeeAddress,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import { Zone } from './booking.ts'

/** Calls on the networks after those of payments can be set, and are not payable. */
const networks = [...paymentNetworks, 'ethereum', 'arbitrum', 'optimism', 'polygon'] as const

const DayTime = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?|24:00(:00)?)$/, { error: 'Invalid time: HH:MM or HH:MM:SS' })

const minutes = (least: number) => count(least, 1_440)

/** What somebody sets, each with its default. */
const fields = {
  scheduling_enabled: z.boolean(),
  scheduling_slug: clearable(
    z.string().regex(/^[a-z0-9-]{3,30}$/, { error: 'Invalid slug: 3 to 30 lowercase letters, digits and hyphens' }),
  ),
  scheduling_title: clearable(nameLine(1, 100)),
  scheduling_bio: clearable(text(500)),
  scheduling_free_enabled: z.boolean(),
  scheduling_paid_enabled: z.boolean(),
  scheduling_free_duration_minutes: minutes(5),
  scheduling_paid_duration_minutes: minutes(5),
  scheduling_price_cents: count(0, 1_000_000),
  scheduling_network: z.enum(networks, { error: 'Invalid network' }),
  scheduling_wallet_address: clearable(PayeeAddress),
  scheduling_duration_minutes: minutes(5),
  scheduling_buffer_minutes: minutes(0),
  scheduling_advance_notice_hours: count(0, 8_760),
  scheduling_calendar_sync: z.boolean(),
}
const given = z.object(fields).partial()
export type GivenSettings = z.output<typeof given>

export const SchedulingSettings = z.object({
  ...fields,
  scheduling_slug: z.string().nullable(),
  scheduling_title: z.string().nullable(),
  scheduling_bio: z.string().nullable(),
  scheduling_wallet_address: z.string().nullable(),
})
export type SchedulingSettings = z.output<typeof SchedulingSettings>

const ShownSettings = SchedulingSettings.extend({
  /** False where nothing carries out payments of this network here: to book a call that is paid for answers 503. */
  payable: z.boolean(),
})
export type ShownSettings = z.output<typeof ShownSettings>

const Window = z.object({
  id: z.string(),
  wallet_address: z.string(),
  name: z.string().nullable(),
  day_of_week: z.number().int(),
  start_time: z.string(),
  end_time: z.string(),
  timezone: z.string(),
  is_active: z.literal(true),
  created_at: Time,
  updated_at: Time,
})

const Slot = z.object({ start: Time, end: Time })

/** Somebody's account, by either name; who is signed in may leave it out for themself. */
const whose = { userAddress: Address.optional(), address: Address.optional() }
/** An instant, or a day by the clocks of a zone. */
const When = z.union([z.iso.date(), Moment])

export const scheduling = {
  settings: operation({
    summary: 'How somebody can be booked; of somebody who cannot be, others see the defaults.',
    http: 'GET /api/scheduling/settings',
    socket: '/notifications scheduling:settings',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object(whose),
    output: ShownSettings,
    errorBody: 'text',
  }),
  configure: operation({
    summary: 'Set how the caller can be booked; what is left out stays.',
    http: 'POST /api/scheduling/settings',
    socket: '/notifications scheduling:configure',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ userAddress: CallerAddress, ...given.shape }),
    output: z.object({ success: z.literal(true), settings: ShownSettings }),
    errors: ['EMAIL_NOT_VERIFIED', 'SLUG_TAKEN'],
    errorBody: 'text',
  }),
  windows: operation({
    summary: 'The times of each week in which the caller can be booked, by day and start.',
    http: 'GET /api/calendar/availability',
    socket: '/notifications availability:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({ windows: z.array(Window) }),
    errorBody: 'text',
  }),
  setWindow: operation({
    summary:
      'Add a time of each week in which the caller can be booked, or change the one with this id, where the zone and the name that are left out stay. It may end at 24:00.',
    http: 'POST /api/calendar/availability',
    socket: '/notifications availability:set',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      userAddress: CallerAddress,
      id: Id.optional(),
      dayOfWeek: count(0, 6),
      startTime: DayTime,
      endTime: DayTime,
      /** UTC where a new one names none. */
      timezone: Zone.optional(),
      name: nameLine(1, 100).nullish(),
      ...repeatable,
    }),
    output: z.object({ window: Window }),
    errors: ['NOT_FOUND'],
    errorBody: 'text',
  }),
  removeWindow: operation({
    summary: 'Remove such a time.',
    http: 'DELETE /api/calendar/availability',
    socket: '/notifications availability:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    input: z.object({ userAddress: CallerAddress, id: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
    errorBody: 'text',
  }),
  availability: operation({
    summary:
      'The times at which somebody can be booked, at most the first 2,000 of up to 92 days; of the next 30 days where no time is named. A day without a time is one by the clocks of `timezone`, else of the person.',
    http: 'GET /api/scheduling/availability',
    socket: '/notifications scheduling:availability',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      ...whose,
      startDate: When.optional(),
      endDate: When.optional(),
      date: z.iso.date().optional(),
      timezone: Zone.optional(),
    }),
    output: z.object({
      availableSlots: z.array(Slot),
      /** The same, under another name. */
      slots: z.array(Slot),
      /** In minutes: of a free call where the person takes some, else of a paid one. */
      duration: z.number().int(),
      /** Of a paid call, which begins when the others do. */
      paidDuration: z.number().int(),
      priceCents: z.number().int(),
      timezone: z.string(),
      /** Why there are none. */
      message: z.string().optional(),
      calendarError: z.literal(true).optional(),
    }),
    errors: ['SCHEDULING_DISABLED'],
    errorBody: 'text',
  }),
}
