import { sealingOf } from '#server/domains/rooms/room-state/facts'
import { blockSize, fileBlock, nextBlock } from '#server/domains/rooms/room-state/search-index'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { GLOBAL, type RoomKey } from '#server/log/types'

// Indexing takes at most a twentieth of the time, so that it slows nothing down.
const restFactor = 19
const longestRestMilliseconds = 1_000

interface IndexingState {
  /** Rooms with full blocks to index, each with blocks to index again. */
  due: Map<RoomKey, Set<number>>
  isAtWork: boolean
  isStopped: boolean
}

const indexingOf = nodeState((): IndexingState => ({ due: new Map(), isAtWork: false, isStopped: false }))

/** Indexes messages for the search: each full block, one at a time. */
export function followSearch(node: Node): () => void {
  const filing = indexingOf(node)
  node.log.onRows((room, rows, isOurs) => {
    const isFull = rows.some(({ n }) => n !== null && n % blockSize === 0)
    if (isFull && isOurs && room !== GLOBAL) scheduleIndexing(node, room)
  })
  return () => {
    filing.isStopped = true
  }
}

/** Indexes a room's full blocks, and again a block with deleted words. */
export function scheduleIndexing(node: Node, room: RoomKey, block?: number): void {
  const filing = indexingOf(node)
  if (filing.isStopped) return
  const again = filing.due.get(room) ?? new Set()
  if (block !== undefined) again.add(block)
  filing.due.set(room, again)
  if (!filing.isAtWork) void indexDueRooms(node, filing)
}

/** One block of each room in turn, so that a long log delays no other. */
async function indexDueRooms(node: Node, filing: IndexingState): Promise<void> {
  filing.isAtWork = true
  for (const [room, again] of filing.due) {
    filing.due.delete(room)
    if (filing.isStopped) break
    const began = performance.now()
    await indexNext(node, room, again).catch((error: unknown) =>
      node.logger.warn({ error, room }, 'messages were not filed for the search; they are with the next ones'),
    )
    const rest = Math.min(restFactor * (performance.now() - began), longestRestMilliseconds)
    await new Promise((resolve) => setTimeout(resolve, rest).unref())
  }
  filing.isAtWork = false
}

async function indexNext(node: Node, room: RoomKey, again: Set<number>): Promise<void> {
  if ((await node.log.ask(room, sealingOf)) !== null) return
  const next = again.values().next().value ?? (await nextBlock(room))
  if ((next + 1) * blockSize > (await node.log.head(room)).total) return
  await fileBlock(room, next)
  again.delete(next)
  const { due } = indexingOf(node)
  due.set(room, new Set([...again, ...(due.get(room) ?? [])]))
}
