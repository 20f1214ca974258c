import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { pushTypes, ringing } from '#shared/api/platform/push'
import { linkTo } from '#shared/kit/pages'
import { forgetBrowser } from './browsers.ts'
import type { StoredBrowser } from './model.ts'

/** A notice that a browser shows. */
export const Notice = z.object({
  title: z.string(),
  body: z.string(),
  type: z.enum(pushTypes),
  /** The caller, in notices of calls. */
  callerId: z.string().nullable(),
  callerName: z.string().nullable(),
  /** The account that acted. */
  senderAddress: z.string().nullable(),
  /** A path of this site. */
  url: z.string(),
  /** A notice replaces an earlier one of its tag, such as the key of a room. */
  tag: z.string(),
  /** Replaces a notice without a new alert. */
  silent: z.literal(true).optional(),
  /** Closes the notice of this tag. */
  closed: z.literal(true).optional(),
})
export type Notice = z.infer<typeof Notice>

/** Closes the notice of a tag. Older workers show its text instead. */
export const closingNotice = (type: Notice['type'], tag: string): Notice => ({
  title: 'Plaza',
  body: 'There is nothing new here any more.',
  type,
  callerId: null,
  callerName: null,
  senderAddress: null,
  url: linkTo('home'),
  tag,
  silent: true,
  closed: true,
})

const topicLength = 32

/** Sends a notice that is valid until then. A browser without a subscription is forgotten. */
export async function sendNotice(
  node: Node,
  browser: StoredBrowser,
  notice: Notice,
  until: number,
  signal?: AbortSignal,
) {
  const { endpoint, p256dh, auth } = browser
  const message = {
    text: JSON.stringify(notice),
    // Hashed, so that the push service learns no tag.
    topic: createHash('sha256').update(`${auth} ${notice.tag}`).digest('base64url').slice(0, topicLength),
    seconds: Math.max(0, Math.ceil((until - node.now()) / 1_000)),
    urgency: notice.type === ringing ? ('high' as const) : ('normal' as const),
  }
  const outcome = await node.services.push.send({ endpoint, p256dh, auth }, message, signal)
  if (outcome === 'gone') await forgetBrowser(browser)
  return outcome
}
