import { createHash } from 'node:crypto'
import { z } from 'zod'
import { deviceOfSession, signedInDevices } from '#server/domains/people/identity/devices'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { job, PermanentFailure } from '#server/kernel/jobs'
import type { RoomKey } from '#server/log/types'
import { upsert } from '#server/ports/database/port'
import { browsersOf, forgetGone } from './browsers.ts'
import { noticeNow } from './messages.ts'
import { PushBrowsers, PushNotices, type StoredBrowser, type StoredNotice } from './model.ts'
import { closing, give, Notice } from './notice.ts'
import { isWanted } from './wishes.ts'

export interface Told {
  notice: Notice
  /** The room whose silence silences it; null where none does. */
  room: RoomKey | null
  /** The message of that room that it is of. */
  message?: string
  /** So long it is worth telling. */
  seconds: number
}

const idOf = (browser: string, account: string, tag: string) => `${browser} ${account} ${tag}`

/** Has each browser of an account given a notice, by a job. */
export async function hand(node: Node, account: string, { notice, room, message, seconds }: Told): Promise<void> {
  const until = node.now() + seconds * 1_000
  const expires_at = new Date(Math.min(until, node.now() + node.settings.retention.readNoticeMilliseconds))
  const { tag, type } = notice
  for (const { _id: browser, device } of await browsersOf(node, account)) {
    const about = message ?? newId()
    const meant = { account, browser, device, tag, type, room, about, is_over: false, expires_at }
    const fresh = { told: null, told_of: null }
    await upsert(() =>
      PushNotices.updateOne(
        { _id: idOf(browser, account, tag) },
        { $set: meant, $setOnInsert: fresh },
        { upsert: true },
      ),
    )
    await node.jobs.add(giveNotice, { browser, account, notice, until, about })
  }
}

/**
 * Has one browser show what holds now, as often as the push service is asked: the message as it is, where it is still unread and who is told still
 * hears of it; where nothing holds any more, what was shown is taken away. A later notice of the same tag has the place of an earlier one.
 */
export const giveNotice = job({
  kind: 'push.give',
  payload: z.object({
    browser: z.string(),
    account: z.string(),
    notice: Notice,
    until: z.number(),
    /** Older versions say nothing of it: their notices are given as they are. */
    about: z.string().nullish(),
  }),
  // A push service that is slow leaves room for letters.
  atOnce: 4,
  async run({ browser, account, notice, until, about }, { node, signal }) {
    const row = await PushBrowsers.findOne({ _id: browser, account }).lean<StoredBrowser>()
    if (!row || node.now() >= until) return
    if (!(await signedInDevices(node, [row.device])).has(row.device)) return forgetGone(row)
    const tell = async (what: Notice) => {
      const outcome = await give(node, row, what, until, signal)
      if (outcome === 'refused') throw new PermanentFailure('The push service refuses the notice')
      return outcome === 'sent'
    }
    if (!about) return void (await tell(notice))
    const _id = idOf(browser, account, notice.tag)
    // What changes while the push service is asked is told next.
    for (;;) {
      const held = await PushNotices.findOne({ _id, account, about }).lean<StoredNotice>()
      if (!held) return
      const next = await holding(node, held, notice)
      const told = next && hashOf(next)
      if (told === held.told) return
      const isSame = next !== null && held.told !== null && held.told_of === next.of
      const what = next
        ? { ...next.notice, ...(isSame ? { silent: true as const } : {}) }
        : closing(held.type, held.tag)
      if (!(await tell(what))) return
      await PushNotices.updateOne({ _id, account }, { $set: { told, told_of: next?.of ?? null } })
    }
  },
})

const hashOf = (shown: { of: string; notice: Notice }) =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url')

/** What a browser is to show under a tag now, and of what that is; of a message that is gone, the one that it shows still. */
async function holding(
  node: Node,
  { account, room, tag, about, is_over, told_of }: StoredNotice,
  given: Notice,
): Promise<{ of: string; notice: Notice } | null> {
  const isOfMessage = room !== null && tag === room
  for (const of of new Set([about, told_of ?? about])) {
    const notice = isOfMessage ? await noticeNow(node, account, room, of) : is_over || of !== about ? null : given
    if (notice && (await isWanted(node, account, notice, room))) return { of, notice }
  }
  return null
}

/** Has browsers that were told of these look whether that still holds; the device in whose session somebody has read it knows by itself. */
export async function lookAgain(
  node: Node,
  which: Partial<Pick<StoredNotice, 'tag' | 'account' | 'about'>>,
  session: string | null = null,
): Promise<void> {
  const { about, ...others } = which
  const of = about === undefined ? {} : { $or: [{ about }, { told_of: about }] }
  const shown = await PushNotices.find({ ...others, ...of, told: { $ne: null } }).lean<StoredNotice[]>()
  if (shown.length === 0) return
  const device = session === null ? null : await deviceOfSession(session)
  for (const { _id, account, browser, device: theirs, tag, type, about: of, expires_at } of shown) {
    if (theirs === device) await PushNotices.updateOne({ _id, account }, { $set: { told: null, told_of: null } })
    else {
      const until = expires_at.getTime()
      await node.jobs.add(giveNotice, { browser, account, notice: closing(type, tag), until, about: of })
    }
  }
}

/** What was told under a tag is over: it is told to nobody any more, and taken away where it was. Nobody waits for it. */
export function withdraw(node: Node, tag: string): void {
  const over = async () => {
    await PushNotices.updateMany({ tag }, { $set: { is_over: true } })
    await lookAgain(node, { tag })
  }
  over().catch((error: unknown) => node.logger.warn({ error }, 'a notice was not withdrawn'))
}
