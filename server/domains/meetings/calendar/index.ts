import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { startInBackground } from '#server/kernel/every'
import { calendarCallback, calendar as contract } from '#shared/api/calendar'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { callbackRoute, redirectUriOf } from './callback.ts'
import {
  calendarRefresh,
  connectionOf,
  dropConnection,
  refreshOlder,
  revoking,
  shownConnection,
} from './connections.ts'
import { beginState } from './state.ts'

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
      const { state, verifier, challenge } = beginState(node, signedIn(context))
      http?.setReturnCookie(verifier, calendarCallback)
      return { authUrl: calendars.askAt({ state, challenge, redirectUri: redirectUriOf(node) }) }
    },

    async status(_input, context) {
      const connection = await connectionOf(signedIn(context).account)
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
    jobs: [revoking, calendarRefresh],
    routes: (node) => [callbackRoute(node)],
    start: (node) => [
      startInBackground(node, () => refreshOlder(node), 'calendars of an older version were not found'),
    ],
  },
)
