import { areBlocked } from '#server/domains/rooms/blocks'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import { friendAccepted, friendRequested } from '#shared/api/friends'
import { type Pair, Pairs } from './model.ts'
import { friendRow, requestRow, shownOne } from './rows.ts'

const changed = 'friends.changed'

/**
 * By the log that every node follows, so that both hear of it wherever they are connected. What is stored stands without it:
 * who is not told finds it in the lists.
 */
export async function announce({ node, caller, logger }: Context, pair: Pair): Promise<void> {
  const entry = { type: changed, body: { pair: pair._id } }
  await node.log
    .act(GLOBAL, { sender: caller.account ?? '', judge: () => ({ accept: entry }) })
    .catch((error: unknown) => logger.warn({ error }, 'a friendship could not be told'))
}

/** Tells those connected here of requests and friendships of theirs. */
export function followFriends(node: Node): () => void {
  node.log.onRows((key, rows) => {
    if (key !== GLOBAL) return
    for (const row of rows) if (row.type === changed) void tell(node, String(row.body.pair)).catch(() => {})
  })
  return () => {}
}

async function tell(node: Node, id: string): Promise<void> {
  const pair = await Pairs.findOne({ _id: id }).lean<Pair>()
  if (!pair) return
  const { from_address, to_address } = pair
  const here = [from_address, to_address].filter(
    (account) => node.live.audienceSize('/notifications', audiences.account(account)) > 0,
  )
  if (here.length === 0 || (await areBlocked(from_address, to_address))) return
  for (const account of here) {
    const [event, payload] =
      pair.state === 'friends'
        ? [friendAccepted, { friend: await shownOne(account, pair, friendRow) }]
        : [friendRequested, { request: await shownOne(account, pair, requestRow) }]
    node.live.send('/notifications', audiences.account(account), event.name, payload)
  }
}
