import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { deviceOfSession, signedInDevices } from '#server/domains/people/identity/devices'
import { previewOf } from '#server/domains/rooms/inbox/counts'
import { hasRead } from '#server/domains/rooms/messages/reads'
import { hasBlock, mayListen, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { type MessageFact, messageIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { Rooms } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { job, PermanentFailure } from '#server/kernel/work/jobs'
import type { RoomKey, View } from '#server/log/types'
import { upsert } from '#server/ports/database/port'
import { isInClear } from '#shared/kit/clear-types'
import { linkTo } from '#shared/kit/pages'
import { roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo, sealedBy } from '#shared/kit/room-kinds'
import { browsersOf, forgetBrowser } from './browsers.ts'
import { PushBrowsers, PushNotices, type StoredBrowser, type StoredNotice } from './model.ts'
import { closingNotice, isNoticeWanted, Notice, sendNotice } from './preferences.ts'

/** The text for a sealed message. */
export const sealedText = 'New message'

/** Whether members of such a room are notified of every message. */
export const notifiesAll = (key: RoomKey): boolean => kindOf(key).pushed.of === 'all'

/** The accounts that a message mentions or replies to. */
export const accountsNamedIn = ({ body: { mentions, reply_to } }: MessageFact): string[] => [
  ...mentions.flatMap(({ kind, id }) => (kind === 'user' ? [id] : [])),
  ...(reply_to ? [reply_to.sender_address] : []),
]

/** The current notice of a message for an account; null if it is read, gone or no longer for them. */
async function currentMessageNotice(node: Node, account: string, key: RoomKey, id: string): Promise<Notice | null> {
  const message = await node.log.ask(key, (view, now) => {
    const found = messageIn(view, id)
    const isThere = isMemberWhoListens(view, account, now) && found !== null && !found.body.deleted
    return isThere && (notifiesAll(key) || accountsNamedIn(found).includes(account)) ? found : null
  })
  if (!message || (await hasRead(key, account, message.n))) return null
  return (await messageNotices(key, new Map([[account, message]]))).get(account) ?? null
}

/** Whether an account is a member, and neither banned nor blocked. */
function isMemberWhoListens(view: View, account: string, now: number): boolean {
  try {
    return (
      readableRoomOf(view, account, now).standing?.isMember === true && mayListen(view, account, now) && !hasBlock(view)
    )
  } catch {
    return false
  }
}

/** The notice of each account's message. */
export async function messageNotices(
  key: RoomKey,
  newest: ReadonlyMap<string, MessageFact>,
): Promise<Map<string, Notice>> {
  if (newest.size === 0) return new Map()
  const room = await Rooms.findOne({ _id: key }, { name: 1, messaging_type: 1 }).lean()
  const { type } = roomOfKey(key)
  const by = sealedBy({ type, messaging_type: room?.messaging_type })
  return new Map(
    [...newest].map(([account, { sender, body }]) => [
      account,
      {
        title: isBetweenTwo(type) || !room ? body.actor.name : `${body.actor.name} in ${room.name}`,
        body: !isInClear(body.type) && isUnreadable(by, body.text) ? sealedText : previewOf(body, by) || sealedText,
        type: kindOf(key).pushed.as,
        callerId: null,
        callerName: null,
        senderAddress: sender,
        url: urlOf(key),
        tag: key,
      },
    ]),
  )
}

/** The path of a room. */
function urlOf(key: RoomKey): string {
  const isStream = kindOf(key).shownAs === 'broadcast'
  return isStream ? linkTo('stream', { stream: roomOfKey(key).id ?? '' }) : linkTo('room', { room: key })
}

export interface AccountNotice {
  notice: Notice
  /** The room whose mute suppresses the notice, if any. */
  room: RoomKey | null
  /** The message of the room that it is about. */
  message?: string
  /** The lifetime of the notice. */
  seconds: number
}

const idOf = (browser: string, account: string, tag: string) => `${browser} ${account} ${tag}`

/** Queues a notice for each browser of an account. */
export async function queueNotice(
  node: Node,
  account: string,
  { notice, room, message, seconds }: AccountNotice,
): Promise<void> {
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
    await node.jobs.add(noticeJob, { browser, account, notice, until, about })
  }
}

/** Sends a browser the current notice until nothing changes meanwhile; an outdated one is closed. A later notice of a tag replaces it. */
export const noticeJob = job({
  kind: 'push.give',
  payload: z.object({
    browser: z.string(),
    account: z.string(),
    notice: Notice,
    until: z.number(),
    /** Absent in jobs of older versions, whose notices are sent as they are. */
    about: z.string().nullish(),
  }),
  // A slow push service leaves room for emails.
  atOnce: 4,
  async run({ browser, account, notice, until, about }, { node, signal }) {
    const row = await PushBrowsers.findOne({ _id: browser, account }).lean<StoredBrowser>()
    if (!row || node.now() >= until) return
    if (!(await signedInDevices(node, [row.device])).has(row.device)) return forgetBrowser(row)
    const sendTo = async (what: Notice) => {
      const outcome = await sendNotice(node, row, what, until, signal)
      if (outcome === 'refused') throw new PermanentFailure('The push service refuses the notice')
      return outcome === 'sent'
    }
    if (!about) return void (await sendTo(notice))
    const _id = idOf(browser, account, notice.tag)
    // Changes during a request are sent next.
    for (;;) {
      const held = await PushNotices.findOne({ _id, account, about }).lean<StoredNotice>()
      if (!held) return
      const next = await currentNotice(node, held, notice)
      const told = next && hashOf(next)
      if (told === held.told) return
      const isSame = next !== null && held.told !== null && held.told_of === next.of
      const what = next
        ? { ...next.notice, ...(isSame ? { silent: true as const } : {}) }
        : closingNotice(held.type, held.tag)
      if (!(await sendTo(what))) return
      await PushNotices.updateOne({ _id, account }, { $set: { told, told_of: next?.of ?? null } })
    }
  },
})

const hashOf = (shown: { of: string; notice: Notice }) =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url')

/** The current notice of a tag and its message; for a deleted message the one that is still shown. */
async function currentNotice(
  node: Node,
  { account, room, tag, about, is_over, told_of }: StoredNotice,
  given: Notice,
): Promise<{ of: string; notice: Notice } | null> {
  const isOfMessage = room !== null && tag === room
  for (const of of new Set([about, told_of ?? about])) {
    const notice = isOfMessage
      ? await currentMessageNotice(node, account, room, of)
      : is_over || of !== about
        ? null
        : given
    if (notice && (await isNoticeWanted(node, account, notice, room))) return { of, notice }
  }
  return null
}

/** Rechecks shown notices. The device whose session read a message updates by itself. */
export async function recheckNotices(
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
      await node.jobs.add(noticeJob, { browser, account, notice: closingNotice(type, tag), until, about: of })
    }
  }
}

/** Ends all notices of a tag, in the background: shown ones are closed. */
export function withdrawNotice(node: Node, tag: string): void {
  const over = async () => {
    await PushNotices.updateMany({ tag }, { $set: { is_over: true } })
    await recheckNotices(node, { tag })
  }
  over().catch((error: unknown) => node.logger.warn({ error }, 'a notice was not withdrawn'))
}
