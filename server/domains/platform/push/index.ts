import { conversationMuteOf, conversationMutesOf } from '#server/domains/moderation/social/blocks'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { friendsAmong, refusalOfContact } from '#server/domains/people/friends/pairs'
import { deviceOfSession } from '#server/domains/people/identity/devices'
import { onInvitationEnded, onInvited } from '#server/domains/rooms/room-state/invitation-events'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { push as contract, type PushType, ringing } from '#shared/api/platform/push'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { withEllipsis } from '#shared/kit/cut'
import { done } from '#shared/kit/primitives'
import { dmOf, roomKey } from '#shared/kit/room-key'
import { browsersOf, forgetBrowsers, storeBrowser } from './browsers.ts'
import { noticeJob, sealedText } from './deliver.ts'
import { notifyInvitation, withdrawInvitation } from './event-notices.ts'
import { followPushEvents } from './follow.ts'
import { changePreferences, type Notice, pushPreferencesOf, pushSuppressionOf, sendNotice } from './preferences.ts'

const hourSeconds = 3_600
const daySeconds = 86_400
const callSeconds = 60
const sentAnHour = 60
const sentToOneAnHour = 20
const longestBody = 200

/** Accounts notify themselves and friends alone, and learn nothing of others' existence or subscriptions. */
const sendPush: Action<typeof contract.send> = async (input, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const { targetAddress: target } = input
  const type = input.type ?? 'notification'
  const url = pathOf(input.url || '/', node.settings.publicUrl)
  await allowNotice(context, account, target)
  if (!isSameAccount(target, account) && !(await friendsAmong(account, [target])).includes(target))
    throw new AppError('FORBIDDEN', { message: 'You can notify yourself and your friends' })
  const refusal =
    type === ringing && !isSameAccount(target, account) ? await refusalOfContact('calls_from', account, target) : null
  if (refusal) throw refusal
  const now = node.now()
  const suppressed = pushSuppressionOf(await pushPreferencesOf(target), type, now)
  if (suppressed) return { ...done, suppressed }
  const room = roomKey(dmOf(account, target))
  // A mute stays private: the sender gets a success.
  if (!isSameAccount(target, account) && conversationMuteOf(await conversationMutesOf(target, now), room, target))
    return done
  const browsers = await browsersOf(node, target)
  if (browsers.length === 0) throw new AppError('NOT_FOUND', { message: 'This user is not subscribed' })
  const notice = await noticeOf(context, { ...input, type, url }, room)
  const until = now + (type === ringing ? callSeconds : daySeconds) * 1_000
  const outcomes = await Promise.all(
    browsers.map((browser) => sendNotice(node, browser, notice, until, context.signal).catch(() => 'failed' as const)),
  )
  if (outcomes.includes('sent')) return done
  if (outcomes.every((outcome) => outcome === 'gone')) throw new AppError('SUBSCRIPTION_EXPIRED')
  throw new AppError('UPSTREAM_ERROR', { status: 500, message: 'The notification could not be sent' })
}

async function allowNotice({ node: { limits } }: Context, from: string, to: string): Promise<void> {
  const allowed =
    (await limits.guard('pushes-by', from, sentAnHour, hourSeconds)) &&
    (await limits.guard('pushes-to', `${from} ${to}`, sentToOneAnHour, hourSeconds))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

/** The path of a URL of this site. Throws for another. */
function pathOf(given: string, site: string): string {
  const url = URL.canParse(given, site) ? new URL(given, site) : null
  if (url?.origin !== site || url.pathname.startsWith('//'))
    throw new AppError('VALIDATION_ERROR', { message: 'url must be an address of this site' })
  return `${url.pathname}${url.search}${url.hash}`
}

type PushRequest = Pick<InputOf<typeof contract.send>, 'targetAddress' | 'title' | 'body'> & {
  type: PushType
  url: string
}

/** The sender's name never comes from the client, except in notices to oneself. */
async function noticeOf(context: Context, asked: PushRequest, room: string): Promise<Notice> {
  const { account } = signedIn(context)
  const { type, url, targetAddress } = asked
  const name = (await profilesOf(context.node, [account])).get(account)?.name ?? account
  const title = asked.title || 'Plaza'
  const isCall = type === ringing
  const isNamed = isCall || type === 'message'
  const text = withEllipsis(asked.body ?? '', longestBody)
  return {
    title: isNamed ? name : isSameAccount(targetAddress, account) ? title : `${name}: ${title}`,
    body: type === 'message' ? sealedText : isCall ? 'Incoming call' : text,
    type,
    callerId: isCall ? account : null,
    callerName: isCall ? name : null,
    senderAddress: account,
    url,
    tag: type === 'message' ? room : `${type}:${account}`,
  }
}

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
