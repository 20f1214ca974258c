import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { type EventRecord, isOf, unsigned } from '#server/domains/rooms/events/define'
import { audiences, type Node } from '#server/kernel/context'
import { GLOBAL, type Row } from '#server/log/types'
import { friendAccepted, friendCancelled, friendDeclined, friendRemoved, friendRequested } from '#shared/api/friends'
import type { RoomEventType } from '#shared/api/room-events'
import { isSameAccount } from '#shared/kit/accounts'
import { friendsChanged, friendsEnded } from './events.ts'
import { type Pair, Pairs } from './model.ts'
import { otherOf, pairOf } from './pairs.ts'
import { friendRow, requestRow, shownOne } from './rows.ts'

const namespace = '/notifications'

/** The fields of an ended pair in its event, without nicknames and the request's text. */
type Ended = Pick<Pair, 'state' | 'request_id' | 'from_address' | 'to_address' | 'from_friend_id' | 'to_friend_id'>

export const announce = (node: Node, account: string, pair: Pair): Promise<void> =>
  tellAll(node, account, friendsChanged, { pair: pair._id })

/** `account` ended the request or friendship. */
export function announceEnd(node: Node, account: string, pair: Pair): Promise<void> {
  const { state, request_id, from_address, to_address, from_friend_id, to_friend_id } = pair
  const was = { state, request_id, from_address, to_address, from_friend_id, to_friend_id } satisfies Ended
  return tellAll(node, account, friendsEnded, { pair: was })
}

/** Ends a request or friendship for a block, after the block is stored. */
export async function part(node: Node, account: string, other: string): Promise<void> {
  const pair = await Pairs.findOneAndDelete({ _id: pairOf(account, other) }).lean<Pair>()
  if (pair) await announceEnd(node, account, pair)
}

/**
 * Appends to `global`, so that both people are notified on any node. The stored change does not depend on it: lists
 * show it anyway.
 */
async function tellAll<Body>(
  node: Node,
  account: string,
  makes: EventRecord<RoomEventType, Body>,
  body: NoInfer<Body>,
): Promise<void> {
  await node.log
    .act(GLOBAL, { sender: account, makes, judge: () => ({ accept: unsigned(makes, body) }) })
    .catch((error: unknown) => node.logger.warn({ error }, 'a friendship could not be told'))
}

/** Notifies people on this node of their requests and friendships, in order of the changes. */
export function followFriends(node: Node): () => void {
  let told = Promise.resolve()
  node.log.onRows((key, rows) => {
    if (key !== GLOBAL) return
    for (const row of rows) {
      if (isOf(row, friendsChanged)) told = told.then(() => tell(node, String(row.body.pair))).catch(() => {})
      if (isOf(row, friendsEnded)) told = told.then(() => tellEnd(node, row)).catch(() => {})
    }
  })
  return () => {}
}

const listening = (node: Node, { from_address, to_address }: Ended): string[] =>
  [from_address, to_address].filter((account) => node.live.audienceSize(namespace, audiences.account(account)) > 0)

async function tell(node: Node, id: string): Promise<void> {
  const pair = await Pairs.findOne({ _id: id }).lean<Pair>()
  if (!pair) return
  const here = listening(node, pair)
  if (here.length === 0 || (await areBlocked(pair.from_address, pair.to_address))) return
  for (const account of here) {
    const theirs = audiences.account(account)
    if (pair.state === 'friends')
      node.live.send(friendAccepted, theirs, { friend: await shownOne(node, account, pair, friendRow) })
    else node.live.send(friendRequested, theirs, { request: await shownOne(node, account, pair, requestRow) })
  }
}

function tellEnd(node: Node, { sender, body }: Row): void {
  const pair = body.pair as unknown as Ended
  const { request_id: id, from_address, to_address } = pair
  for (const account of listening(node, pair)) {
    const theirs = audiences.account(account)
    const ended = isSameAccount(sender, from_address) ? friendCancelled : friendDeclined
    if (pair.state === 'friends') node.live.send(friendRemoved, theirs, { friend: endedRow(pair, account) })
    else node.live.send(ended, theirs, { request: { id, from_address, to_address } })
  }
}

const endedRow = (pair: Ended, account: string) => ({
  id: isSameAccount(pair.from_address, account) ? pair.from_friend_id : pair.to_friend_id,
  user_address: account,
  friend_address: otherOf(pair, account),
})
