import { validSessions } from '#server/domains/people/identity/sessions'
import type { Node } from '#server/kernel/context'
import { returnCookieOf } from '#server/kernel/http/cookies'
import type { RawRoute } from '#server/kernel/http/raw-route'
import { NoAccess } from '#server/ports/calendar/port'
import { type CalendarError, calendarCallback } from '#shared/api/meetings/calendar'
import { storeConnection } from './connections.ts'
import { challengeOfVerifier, readCalendarState, spendCalendarState } from './state.ts'

const longestCode = 2_048

export const redirectUriOf = ({ settings }: Node): string => `${settings.publicUrl}${calendarCallback}`

/** Connects the calendar when the provider sends the browser back. No session comes from another site: state and cookie identify it. */
export const callbackRoute = (node: Node): RawRoute => ({
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
