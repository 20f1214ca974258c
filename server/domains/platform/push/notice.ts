import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { pushTypes, ringing } from '#shared/api/push'
import { linkTo } from '#shared/kit/pages'
import { forgetGone } from './browsers.ts'
import type { StoredBrowser } from './model.ts'

/** What a browser is given, and shows. */
export const Notice = z.object({
  title: z.string(),
  body: z.string(),
  type: z.enum(pushTypes),
  /** Of a call: who rings. */
  callerId: z.string().nullable(),
  callerName: z.string().nullable(),
  /** Whose doing it is. */
  senderAddress: z.string().nullable(),
  /** A path of this site. */
  url: z.string(),
  /** A notice replaces the one before of the same tag: the key of a room, where it is of one. */
  tag: z.string(),
  /** It takes the place of what was told before, and nobody is called for it. */
  silent: z.literal(true).optional(),
  /** What was told under this tag is taken away. */
  closed: z.literal(true).optional(),
})
export type Notice = z.infer<typeof Notice>

/** Takes away what a browser shows under a tag. Workers of older pages show its words instead. */
export const closing = (type: Notice['type'], tag: string): Notice => ({
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

/** Gives one browser a notice that is worth telling until then; a browser that is subscribed no more is forgotten. */
export async function give(node: Node, browser: StoredBrowser, notice: Notice, until: number, signal?: AbortSignal) {
  const { endpoint, p256dh, auth } = browser
  const message = {
    text: JSON.stringify(notice),
    // The push service learns of no tag by it.
    topic: createHash('sha256').update(`${auth} ${notice.tag}`).digest('base64url').slice(0, topicLength),
    seconds: Math.max(0, Math.ceil((until - node.now()) / 1_000)),
    urgency: notice.type === ringing ? ('high' as const) : ('normal' as const),
  }
  const outcome = await node.services.push.send({ endpoint, p256dh, auth }, message, signal)
  if (outcome === 'gone') await forgetGone(browser)
  return outcome
}
