import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { type EventRecord, isRowOf, unsignedEntry } from '#server/domains/rooms/events/define'
import { audiences, type Node } from '#server/kernel/context'
import { GLOBAL, type Row } from '#server/log/types'
import {
  friendAccepted,
  friendCancelled,
  friendDeclined,
  friendRemoved,
  friendRequested,
} from '#shared/api/people/friends'
import type { RoomEventType } from '#shared/api/rooms/room-events'
import { isSameAccount } from '#shared/kit/accounts'
import { friendsChanged, friendsEnded } from './events.ts'
import { type Pair, Pairs } from './model.ts'
import { otherPersonOf, pairIdOf } from './pairs.ts'
import { friendRow, pairOutput, requestRow } from './rows.ts'

const namespace = '/notifications'

/** The fields of an ended pair in its event, without nicknames and the request's text. */
type EndedPair = Pick<Pair, 'state' | 'request_id' | 'from_address' | 'to_address' | 'from_friend_id' | 'to_friend_id'>

export const announcePair = (node: Node, account: string, pair: Pair): Promise<void> =>
  appendToGlobal(node, account, friendsChanged, { pair: pair._id })

/** `account` ended the request or friendship. */
export function announcePairEnd(node: Node, account: string, pair: Pair): Promise<void> {
  const { state, request_id, from_address, to_address, from_friend_id, to_friend_id } = pair
  const was = { state, request_id, from_address, to_address, from_friend_id, to_friend_id } satisfies EndedPair
  return appendToGlobal(node, account, friendsEnded, { pair: was })
}

/** Ends a request or friendship for a block, after the block is stored. */
export async function endRelation(node: Node, account: string, other: string): Promise<void> {
  const pair = await Pairs.findOneAndDelete({ _id: pairIdOf(account, other) }).lean<Pair>()
  if (pair) await announcePairEnd(node, account, pair)
}

/**
 * Appends to `global`, so that both people are notified on any node. The stored change does not depend on it: lists
 * show it anyway.
 */
async function appendToGlobal<Body>(
  node: Node,
  account: string,
  makes: EventRecord<RoomEventType, Body>,
  body: NoInfer<Body>,
): Promise<void> {
  await node.log
    .act(GLOBAL, { sender: account, makes, judge: () => ({ accept: unsignedEntry(makes, body) }) })
    .catch((error: unknown) => node.logger.warn({ error }, 'a friendship could not be told'))
}

/** Notifies people on this node of their requests and friendships, in order of the changes. */
export function followFriends(node: Node): () => void {
  let sending = Promise.resolve()
  node.log.onRows((key, rows) => {
    if (key !== GLOBAL) return
    for (const row of rows) {
      if (isRowOf(row, friendsChanged))
        sending = sending.then(() => sendPair(node, String(row.body.pair))).catch(() => {})
      if (isRowOf(row, friendsEnded)) sending = sending.then(() => sendPairEnd(node, row)).catch(() => {})
    }
  })
  return () => {}
}

const connectedAccounts = (node: Node, { from_address, to_address }: EndedPair): string[] =>
  [from_address, to_address].filter((account) => node.live.audienceSize(namespace, audiences.account(account)) > 0)

async function sendPair(node: Node, id: string): Promise<void> {
  const pair = await Pairs.findOne({ _id: id }).lean<Pair>()
  if (!pair) return
  const here = connectedAccounts(node, pair)
  if (here.length === 0 || (await areBlocked(pair.from_address, pair.to_address))) return
  for (const account of here) {
    const theirs = audiences.account(account)
    if (pair.state === 'friends')
      node.live.send(friendAccepted, theirs, { friend: await pairOutput(node, account, pair, friendRow) })
    else node.live.send(friendRequested, theirs, { request: await pairOutput(node, account, pair, requestRow) })
  }
}

function sendPairEnd(node: Node, { sender, body }: Row): void {
  const pair = body.pair as unknown as EndedPair
  const { request_id: id, from_address, to_address } = pair
  for (const account of connectedAccounts(node, pair)) {
    const theirs = audiences.account(account)
    const ended = isSameAccount(sender, from_address) ? friendCancelled : friendDeclined
    if (pair.state === 'friends') node.live.send(friendRemoved, theirs, { friend: endedRow(pair, account) })
    else node.live.send(ended, theirs, { request: { id, from_address, to_address } })
  }
}

const endedRow = (pair: EndedPair, account: string) => ({
  id: isSameAccount(pair.from_address, account) ? pair.from_friend_id : pair.to_friend_id,
  user_address: account,
  friend_address: otherPersonOf(pair, account),
})
