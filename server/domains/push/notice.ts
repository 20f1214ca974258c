import { createHash } from 'node:crypto'
import { z } from 'zod'
import { signedInAmong } from '#server/domains/identity/devices'
import type { Node } from '#server/kernel/context'
import { GiveUp, job } from '#server/kernel/jobs'
import { pushTypes, ringing } from '#shared/api/push'
import { forgetGone } from './browsers.ts'
import { PushBrowsers, type StoredBrowser } from './model.ts'

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
})
export type Notice = z.infer<typeof Notice>

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

/** Gives one browser a notice; none that has passed to another account, or whose notice is late. */
export const giveNotice = job({
  kind: 'push.give',
  payload: z.object({ browser: z.string(), account: z.string(), notice: Notice, until: z.number() }),
  // A push service that is slow leaves room for letters.
  atOnce: 4,
  async run({ browser, account, notice, until }, { node, signal }) {
    const row = await PushBrowsers.findOne({ _id: browser, account }).lean<StoredBrowser>()
    if (!row || node.now() >= until) return
    if (!(await signedInAmong(node, [row.device])).has(row.device)) return forgetGone(row)
    const outcome = await give(node, row, notice, until, signal)
    if (outcome === 'refused') throw new GiveUp('The push service refuses the notice')
  },
})
