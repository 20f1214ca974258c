import { blockedBy } from '#server/domains/moderation/blocks/blocks'
import { conversationMuteOf, conversationMutesOf } from '#server/domains/moderation/social/conversation-mutes'
import { mayListen } from '#server/domains/rooms/room-state/access'
import { membershipsOf } from '#server/domains/rooms/room-state/membership'
import { cardsOf } from '#server/domains/rooms/room-state/rows'
import { audiences, type Node } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { nodeState } from '#server/kernel/operate/node-state'
import type { RoomKey, View } from '#server/log/types'
import { unreadChanged, unreadSnapshot } from '#shared/api/rooms/inbox'
import { roomOfKey } from '#shared/kit/room-key'
import { type Counts, countsOf, noCounts } from './counts.ts'
import { lastMessagesOf } from './previews.ts'

const namespace = '/notifications'
const atOnce = 8
/** Older counts are repeated after this time, because messages between nodes may be lost. */
const trustedMilliseconds = 60_000

/** Changes of an account since its last notification. */
interface DueChanges {
  changed: Set<RoomKey>
  /** Rooms that the account has left; records may be older. */
  left: Set<RoomKey>
  /** Blocks have changed, and with them the counts of every room. */
  blocks: boolean
}
const nothing = (): DueChanges => ({ changed: new Set(), left: new Set(), blocks: false })

interface Listener {
  due: DueChanges
  isCounting: boolean
  /** The last unread count of each room, for the sum. */
  unread: Map<RoomKey, number>
  countedAt: number
}

const countStateOf = nodeState(() => ({ listeners: new Map<string, Listener>(), inTurn: fewAtOnce(atOnce) }))

const isHere = (node: Node, account: string) => node.live.audienceSize(namespace, audiences.account(account)) > 0

/** Sends the unread counts of these rooms to the account's devices on this node. */
export const sendUnread = (node: Node, account: string, keys: Iterable<RoomKey>): void =>
  scheduleCount(node, account, ({ changed, left }) => {
    for (const key of keys) {
      changed.add(key)
      left.delete(key)
    }
  })

/**
 * Messages of blocked people are not unread. A block thus changes counts, which are sent for each room with unread
 * messages.
 */
export const sendUnreadAfterBlocks = (node: Node, account: string): void =>
  scheduleCount(node, account, (due) => {
    due.blocks = true
  })

/** After a departure, the counts of all other rooms are sent. */
export const sendUnreadAfterLeaving = (node: Node, account: string, key: RoomKey): void =>
  scheduleCount(node, account, ({ changed, left }) => {
    changed.delete(key)
    left.add(key)
  })

/** All unread counts of an account, for a new device. */
export async function unreadSnapshotOf(node: Node, account: string, keys: readonly RoomKey[]) {
  const { rooms, total } = await recount(node, account, new Map(), keys, keys)
  return { rooms, total }
}

function listenerOf(node: Node, account: string): Listener {
  const { listeners } = countStateOf(node)
  const known = listeners.get(account)
  if (known) return known
  const listener = { due: nothing(), isCounting: false, unread: new Map(), countedAt: Number.NEGATIVE_INFINITY }
  listeners.set(account, listener)
  return listener
}

/** Drops an account without devices on this node. */
export function dropListener(node: Node, account: string): void {
  if (!isHere(node, account)) countStateOf(node).listeners.delete(account)
}

/** One count at a time for each account; all changes during it make one more. */
function scheduleCount(node: Node, account: string, note: (due: DueChanges) => void): void {
  if (!isHere(node, account)) return
  const listener = listenerOf(node, account)
  note(listener.due)
  if (!listener.isCounting) void countDue(node, account, listener)
}

const isDue = ({ changed, left, blocks }: DueChanges) => blocks || changed.size > 0 || left.size > 0

async function countDue(node: Node, account: string, listener: Listener): Promise<void> {
  const { inTurn } = countStateOf(node)
  listener.isCounting = true
  try {
    while (isDue(listener.due)) await inTurn(() => sendDueCounts(node, account, listener))
  } catch {
    listener.countedAt = Number.NEGATIVE_INFINITY
  } finally {
    listener.isCounting = false
  }
}

async function sendDueCounts(node: Node, account: string, listener: Listener): Promise<void> {
  const { changed, left, blocks } = listener.due
  listener.due = nothing()
  if (!isHere(node, account)) return
  const audience = audiences.account(account)
  const keys = (await membershipsOf(account)).filter((key) => !left.has(key))
  const isWhole = blocks || left.size > 0 || performance.now() - listener.countedAt > trustedMilliseconds
  const counted = isWhole ? keys : keys.filter((key) => changed.has(key) || !listener.unread.has(key))
  const { rooms, total, counts } = await recount(node, account, listener.unread, keys, counted)
  if (isWhole) listener.countedAt = performance.now()
  if (left.size > 0) {
    node.live.send(unreadSnapshot, audience, { rooms, total })
    return
  }
  const hasNews = (key: RoomKey) => changed.has(key) || (blocks && (counts.get(key) ?? noCounts).left > 0)
  const news = new Set(await receivableRooms(node, account, counted.filter(hasNews)))
  const last = await lastMessagesOf(node, await cardsOf(node, [...news]), await blockedBy(account))
  for (const [at, key] of counted.entries()) {
    const room = rooms[at]
    if (room && news.has(key))
      node.live.send(unreadChanged, audience, { ...room, last_message: last.get(key) ?? null, total })
  }
}

/** The rooms that a member may still follow: a staff membership may be about to end. */
async function receivableRooms(node: Node, account: string, keys: readonly RoomKey[]): Promise<RoomKey[]> {
  const may = (view: View, now = view.at) => mayListen(view, account, now)
  const mayReceive = await Promise.all(keys.map((key) => node.log.answerHere(key, may) ?? node.log.ask(key, may)))
  return keys.filter((_, at) => mayReceive[at])
}

/**
 * The unread counts of some rooms, from heads and marks. The sum covers all rooms, with earlier counts of the others
 * (`unread`).
 */
async function recount(
  node: Node,
  account: string,
  unread: Map<RoomKey, number>,
  keys: readonly RoomKey[],
  counted: readonly RoomKey[],
) {
  const [counts, mutes] = await Promise.all([
    countsOf(node, account, counted),
    conversationMutesOf(account, node.now()),
  ])
  const among = new Set(keys)
  for (const key of [...unread.keys()]) if (!among.has(key)) unread.delete(key)
  for (const key of counted) unread.set(key, (counts.get(key) ?? noCounts).unread)
  const isSilent = (key: RoomKey) => mutes.length > 0 && conversationMuteOf(mutes, key, account) !== null
  const total = keys.reduce((sum, key) => sum + (isSilent(key) ? 0 : (unread.get(key) ?? 0)), 0)
  return { rooms: counted.map((key) => shown(key, counts.get(key) ?? noCounts)), total, counts }

  function shown(key: RoomKey, { head_seq, read_seq, unread: left, mentions }: Counts) {
    const mute = conversationMuteOf(mutes, key, account)
    return {
      room: roomOfKey(key),
      ...{ head_seq, read_seq, unread: left, mentions },
      muted_until: mute?.muted_until ?? null,
      silent: mute !== null,
    }
  }
}
