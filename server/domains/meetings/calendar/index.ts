import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { validSessions } from '#server/domains/people/identity/sessions'
import { type Node, type SignedIn, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { returnCookieOf } from '#server/kernel/http/cookies'
import type { RawRoute } from '#server/kernel/http/raw-route'
import { newId } from '#server/kernel/ids'
import { seal, unseal } from '#server/kernel/seal'
import { startInBackground } from '#server/kernel/work/every'
import { NoAccess } from '#server/ports/calendar/port'
import { isDuplicate } from '#server/ports/database/port'
import { type CalendarError, calendarCallback, calendar as contract } from '#shared/api/meetings/calendar'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import {
  calendarOf,
  calendarRefresh,
  calendarRevocation,
  dropConnection,
  scheduleOlderRefreshes,
  shownConnection,
  storeConnection,
} from './connections.ts'
import { SpentStates } from './model.ts'

const lifeMilliseconds = 600_000
const keptMilliseconds = 3_600_000
const boundTo = 'calendar state'

/** The caller who was sent to a provider. */
const State = z.object({
  id: z.string(),
  account: z.string(),
  session: z.string(),
  challenge: z.string(),
  until: z.number(),
})
type State = z.infer<typeof State>

interface NewState {
  state: string
  /** Stored in the browser alone; the provider wants it with the code, so a stolen code is useless. */
  verifier: string
  challenge: string
}

/** A sealed state for the provider; nothing is stored before its return. */
function newCalendarState({ settings, now }: Node, { account, session }: SignedIn): NewState {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = challengeOfVerifier(verifier)
  const state: State = { id: newId(), account, session: session.id, challenge, until: now() + lifeMilliseconds }
  return { state: seal(settings.sessionKeys, JSON.stringify(state), boundTo), verifier, challenge }
}

/** Null for a state of another origin or use. */
function readCalendarState({ settings }: Node, state: string): State | null {
  try {
    return State.parse(JSON.parse(unseal(settings.sessionKeys, state, boundTo)))
  } catch {
    return null
  }
}

/** Uses a state; false if it was used. Of simultaneous calls exactly one succeeds. */
async function spendCalendarState({ id, until }: State): Promise<boolean> {
  try {
    await SpentStates.create({ _id: id, expires_at: new Date(until + keptMilliseconds) })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

const challengeOfVerifier = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

const longestCode = 2_048

const redirectUriOf = ({ settings }: Node): string => `${settings.publicUrl}${calendarCallback}`

/** Connects the calendar when the provider sends the browser back. No session comes from another site: state and cookie identify it. */
const callbackRoute = (node: Node): RawRoute => ({
  path: calendarCallback,
  answer: 'html',
  async give(request, response) {
    const failure = await connectCalendar(
      node,
      request.query,
      returnCookieOf(request.headers.cookie, node.settings.publicUrl),
    )
    const page = new URL(node.settings.publicUrl)
    if (failure === null) page.searchParams.set('calendar_connected', 'true')
    else page.searchParams.set('calendar_error', failure)
    response.redirect(302, page.href)
    return true
  },
})

/** Null on success. */
async function connectCalendar(
  node: Node,
  { code, state, error }: Record<string, unknown>,
  verifier: string | null,
): Promise<CalendarError | null> {
  const { calendars } = node.services
  if (!calendars) return 'not_configured'
  if (error !== undefined) return error === 'access_denied' ? 'access_denied' : 'provider_error'
  if (typeof code !== 'string' || typeof state !== 'string' || code === '' || state === '') return 'missing_params'
  const begun = readCalendarState(node, state)
  if (!begun || code.length > longestCode) return 'invalid_state'
  try {
    if (begun.until <= node.now() || !(await validSessions(node)([begun.session])).has(begun.session))
      return 'expired_state'
    if (verifier === null || challengeOfVerifier(verifier) !== begun.challenge) return 'other_browser'
    if (!(await spendCalendarState(begun))) return 'used_state'
    await storeConnection(node, begun.account, await calendars.exchange(code, verifier, redirectUriOf(node)))
    return null
  } catch (cause) {
    node.logger.warn({ error: cause }, 'a calendar was not connected')
    return cause instanceof NoAccess ? 'exchange_failed' : 'provider_away'
  }
}

export const calendar = defineDomain(
  contract,
  {
    connect(_input, context) {
      const { node, http } = context
      const { calendars } = node.services
      if (!calendars)
        throw new AppError('SERVICE_UNAVAILABLE', {
          status: 500,
          message: 'Calendars are not configured here: GOOGLE_CLIENT_ID is not set',
        })
      const { state, verifier, challenge } = newCalendarState(node, signedIn(context))
      http?.setReturnCookie(verifier, calendarCallback)
      return { authUrl: calendars.askAt({ state, challenge, redirectUri: redirectUriOf(node) }) }
    },

    async status(_input, context) {
      const connection = await calendarOf(signedIn(context).account)
      return {
        connected: (connection?.is_active ?? false) && context.node.services.calendars !== null,
        connection: connection && shownConnection(connection),
        available: context.node.services.calendars !== null,
      }
    },

    async disconnect(_input, context) {
      await dropConnection(context.node, signedIn(context).account)
      return done
    },
  },
  {
    jobs: [calendarRevocation, calendarRefresh],
    routes: (node) => [callbackRoute(node)],
    start: (node) => [
      startInBackground(node, () => scheduleOlderRefreshes(node), 'calendars of an older version were not found'),
    ],
  },
)
