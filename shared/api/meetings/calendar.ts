import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, Done, Link, Time } from '#shared/kit/primitives'

/** Where providers send browsers back to; it answers by a redirect alone, so it is no operation. */
export const calendarCallback = '/api/calendar/callback'

/** Why a calendar was not connected: in `calendar_error` of the address of the page. */
const calendarErrors = [
  /** The person denied access. */
  'access_denied',
  /** The provider says that it failed. */
  'provider_error',
  'missing_params',
  /** Not made by this server, or not for this. */
  'invalid_state',
  /** More than ten minutes old, or of a session that has ended. */
  'expired_state',
  'used_state',
  /** Begun in another browser. */
  'other_browser',
  /** What the provider has sent is good for nothing, or not all was allowed that is needed. */
  'exchange_failed',
  /** The provider does not answer. */
  'provider_away',
  'not_configured',
] as const
export type CalendarError = (typeof calendarErrors)[number]

const Connection = z.object({
  id: z.string(),
  wallet_address: z.string(),
  provider: z.literal('google'),
  calendar_id: z.string(),
  /** Null where the provider does not say. */
  calendar_email: z.string().nullable(),
  /** False where the provider gives no access any more: the calendar has to be connected again. */
  is_active: z.boolean(),
  /** When the provider last gave access. */
  last_sync_at: Time.nullable(),
  created_at: Time,
})
export type CalendarConnection = z.output<typeof Connection>

/** Calendars that people keep elsewhere. */
export const calendar = {
  connect: operation({
    summary:
      'Where the caller allows this server to read when their calendar at Google is busy, and to write calls into it; the browser that asks must be the one that goes there, within ten minutes.',
    http: 'GET /api/calendar/connect',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({ authUrl: Link }),
    statuses: { SERVICE_UNAVAILABLE: [500, 503] },
    errorBody: 'text',
  }),
  status: operation({
    summary: 'Whether the caller has connected a calendar, and which.',
    http: 'GET /api/calendar/status',
    socket: '/notifications calendar:status',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({
      connected: z.boolean(),
      connection: Connection.nullable(),
      /** Whether calendars can be connected here. */
      available: z.boolean(),
    }),
    errorBody: 'text',
  }),
  disconnect: operation({
    summary: 'Forget the calendar of the caller, and give back at its provider what was allowed.',
    http: 'POST /api/calendar/disconnect',
    socket: '/notifications calendar:disconnect',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'withdraws',
    input: z.object({ userAddress: CallerAddress }),
    output: Done,
    errorBody: 'text',
  }),
}
