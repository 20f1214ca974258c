import { profilesOf } from '#server/domains/people/accounts/profiles'
import { readRoom } from '#server/domains/rooms/room-state/access'
import { messageFactOf, messageIn, pinsIn, sealingOf } from '#server/domains/rooms/room-state/facts'
import { presentMessagesBetween } from '#server/domains/rooms/room-state/redaction'
import { isSuspended } from '#server/domains/rooms/room-state/standing'
import type { Action, Context, Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { messagesOf, ownReactions, reactionsOf } from './pages.ts'

/** A readable room, including a blocked direct one. Insiders are members and moderators. */
export async function readableRoom({ node, caller }: Pick<Context, 'node' | 'caller'>, room: RoomRef) {
  const { account } = caller
  const { key, standing, also } = await readRoom(node, caller, room, (view) => ({
    total: view.total,
    seq: view.seq,
    pins: pinsIn(view),
    epoch: view.epoch,
    sealed: sealingOf(view),
    isSuspended: account !== null && isSuspended(view, account),
  }))
  return { key, isInsider: standing?.isMember === true || standing?.isModerator === true, ...also }
}

/** The number of messages up to and including this seq. */
export async function messageCountAt(
  node: Node,
  key: RoomKey,
  seq: number,
  head: { seq: number; total: number },
): Promise<number> {
  if (seq >= head.seq) return head.total
  if (seq <= 0) return 0
  const [row] = await node.log.read(key, seq - 1, 1)
  return row?.total ?? 0
}

/** The ordinal of the first message at or after a time, by bisection. */
export async function firstMessageSince(key: RoomKey, time: number, total: number): Promise<number> {
  let low = 1
  let high = total + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = await presentMessagesBetween(key, middle, middle)
    if (row && row.at < time) low = middle + 1
    else high = middle
  }
  return low
}

export const history: Action<typeof contract.history> = (input, context) => pageOf(context, input)

/** A page of a room that the caller may read. */
export async function pageOf(context: Context, input: Page) {
  refuseBoundsAround(input)
  const { key, isInsider, ...head } = await readableRoom(context, input.room)
  const { from, to, ...more } = await pageRangeOf(context.node, key, head, input)
  await context.charge(Math.max(0, to - from + 1))
  const rows = from > to ? [] : await presentMessagesBetween(key, from, to)
  const messages = await messagesOf(key, rows.map(messageFactOf), isInsider)
  const ids = messages.flatMap(({ id, reactions: counts }) => (Object.keys(counts).length > 0 ? [id] : []))
  const [reactions, reacted] = await Promise.all([
    reactionsOf(key, ids),
    ownReactions(key, ids, context.caller.account),
  ])
  return { messages, reactions, reacted, ...more, has_older: from > 1, has_newer: to < head.total }
}

type Page = Parameters<typeof history>[0]

/** A page around a seq has no other bounds. */
function refuseBoundsAround({ around_seq, before_seq, after_seq, before, after }: Page): void {
  if (around_seq === undefined) return
  const [other] =
    Object.entries({ before_seq, after_seq, before, after }).find(([, value]) => value !== undefined) ?? []
  if (other) throw new AppError('VALIDATION_ERROR', { message: `around_seq: not together with ${other}` })
}

/** The ordinals of a page within all bounds: the oldest if there is a lower bound, else the newest. */
async function pageRangeOf(
  node: Node,
  key: RoomKey,
  head: { seq: number; total: number },
  { limit, before_seq, after_seq, around_seq, before, after }: Page,
): Promise<{ from: number; to: number; has_more: boolean }> {
  const { total } = head
  if (around_seq !== undefined) {
    const from = Math.max(1, (await messageCountAt(node, key, around_seq, head)) - Math.floor(limit / 2))
    const to = Math.min(total, from + limit - 1)
    return { from, to, has_more: from > 1 || to < total }
  }
  const lows = await Promise.all([
    after_seq === undefined ? 1 : messageCountAt(node, key, after_seq, head).then((n) => n + 1),
    after === undefined ? 1 : firstMessageSince(key, Date.parse(after), total),
  ])
  const highs = await Promise.all([
    before_seq === undefined ? total : messageCountAt(node, key, before_seq - 1, head),
    before === undefined ? total : firstMessageSince(key, Date.parse(before), total).then((n) => n - 1),
  ])
  const low = Math.max(...lows)
  const high = Math.min(...highs)
  if (after_seq === undefined && after === undefined) {
    const from = Math.max(low, high - limit + 1)
    return { from, to: high, has_more: from > low }
  }
  const to = Math.min(high, low + limit - 1)
  return { from: low, to, has_more: to < high }
}

export const pins: Action<typeof contract.pins> = async ({ room }, context) => {
  const { key, isInsider, pins: ids } = await readableRoom(context, room)
  return { pinnedMessages: await pinnedMessages(context.node, key, ids, isInsider) }
}

export async function pinnedMessages(node: Node, key: RoomKey, ids: readonly string[], isInsider: boolean) {
  const facts = await node.log.ask(key, (view) => ids.map((id) => messageIn(view, id)))
  return messagesOf(
    key,
    facts.filter((fact) => fact !== null),
    isInsider,
  )
}

export const reactions: Action<typeof contract.reactions> = async ({ room, messageIds }, context) => {
  const { key } = await readableRoom(context, room)
  const named = [...new Set(messageIds.split(',').filter(Boolean))].slice(0, 200)
  const there = await context.node.log.ask(key, (view) =>
    named.filter((id) => messageIn(view, id)?.body.deleted === null),
  )
  const found = await reactionsOf(key, there)
  const profiles = await profilesOf(
    context.node,
    found.map(({ user_address }) => user_address),
  )
  return {
    reactions: found.map((one) => ({
      ...one,
      user_name: profiles.get(one.user_address)?.name ?? one.user_address,
    })),
  }
}
