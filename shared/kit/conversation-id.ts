import { dmOf, peersOf, type Ref } from './room-key.ts'

const [before, after] = ['/plaza/1/dm/', '/proto']

/** What the documented paths call the conversation of two people: `/plaza/1/dm/<one account>-<the other>/proto`, in the order of their ids. */
export const conversationIdOf = ({ id }: Pick<Ref, 'id'>): string => before + peersOf(id).join('-') + after

/** The conversation of this account that has such an id; null where it has none. Ids of accounts may have hyphens of their own. */
export function dmOfConversation(id: string, account: string) {
  const pair = id.slice(before.length, -after.length)
  const peers = [pair.slice(account.length + 1), pair.slice(0, -account.length - 1)]
  return peers.map((peer) => dmOf(account, peer)).find((dm) => conversationIdOf(dm) === id) ?? null
}
