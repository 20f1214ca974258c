import { deviceOfSession } from '#server/domains/people/identity/devices'
import { onInvitationEnded, onInvited } from '#server/domains/rooms/room-state/invitation-events'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { push as contract } from '#shared/api/platform/push'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { forgetBrowsers, storeBrowser } from './browsers.ts'
import { noticeJob } from './deliver.ts'
import { notifyInvitation, withdrawInvitation } from './event-notices.ts'
import { followPushEvents } from './follow.ts'
import { changePreferences, pushPreferencesOf } from './preferences.ts'
import { sendPush } from './send.ts'

export const push = defineDomain(
  contract,
  {
    publicKey: (_input, { node }) => ({ publicKey: node.services.push.publicKey }),

    async subscribe({ subscription: { endpoint, keys } }, context) {
      const { account, session } = signedIn(context)
      const { node } = context
      node.services.push.check({ endpoint, ...keys })
      const device = await deviceOfSession(session.id)
      if (device === null)
        throw new AppError('FORBIDDEN', { message: 'Only a browser in which you signed in subscribes' })
      await storeBrowser(node, account, device, { endpoint, ...keys })
      return done
    },

    async unsubscribe({ endpoint }, context) {
      await forgetBrowsers(signedIn(context).account, endpoint || null)
      return done
    },

    send: sendPush,

    preferences: (_input, context) => pushPreferencesOf(signedIn(context).account),

    async changePreferences(input, context) {
      const isChanged = await changePreferences(signedIn(context).account, {
        quietStart: hourOf(input.quietStart),
        quietEnd: hourOf(input.quietEnd),
        quietTimezone: input.quietTimezone,
        notifyDms: input.notifyDms ?? undefined,
        notifyGroups: input.notifyGroups ?? undefined,
        notifyChannels: input.notifyChannels ?? undefined,
        notifyCalls: input.notifyCalls ?? undefined,
        notifyInvitations: input.notifyInvitations ?? undefined,
      })
      if (!isChanged) throw new AppError('VALIDATION_ERROR', { message: 'Nothing to update' })
      return done
    },
  },
  {
    jobs: [noticeJob],
    start: (node) => [
      followPushEvents(node),
      onInvited(node, (invitation) => notifyInvitation(node, invitation)),
      onInvitationEnded(node, (id) => withdrawInvitation(node, id)),
    ],
  },
)

const hourOf = (given: number | '' | null | undefined) => (given === '' ? null : given)
