import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { startInBackground } from '#server/kernel/work/every'
import { calendarCallback, calendar as contract } from '#shared/api/meetings/calendar'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { callbackRoute, redirectUriOf } from './callback.ts'
import {
  calendarOf,
  calendarRefresh,
  calendarRevocation,
  dropConnection,
  scheduleOlderRefreshes,
  shownConnection,
} from './connections.ts'
import { newCalendarState } from './state.ts'

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
