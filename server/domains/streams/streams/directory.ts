import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { orderedPages } from '#server/kernel/store/pages'
import { streamListed } from '#shared/api/streams/stream-events'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { type StoredStream, Streams } from './model.ts'
import { foundStreams, publicStreamsOf } from './render.ts'

/** The readers of the list of live streams. */
const directory = audiences.stream('live')

const directoryOf = nodeState(() => ({
  /** The last text that was sent to all readers, by stream. */
  sent: new Map<string, string>(),
  /** Streams whose text differs between readers, as one of them was answered later. */
  answered: new Set<string>(),
  /** Streams that have changed since the last notice. */
  changed: new Set<string>(),
  /** Answers are made in parallel, and each notice alone: a notice is newer than the answers before it. */
  alone: Promise.resolve() as Promise<unknown>,
  beside: Promise.resolve() as Promise<unknown>,
}))

const hasReaders = (node: Node) => node.live.audienceSize('/streams', directory) > 0

/** Live by its row. A stream that its owner alone calls live, without a picture, is not listed. */
export const publishedFilter = { status: 'live', is_published: true } as const

async function listedAmong(node: Node, streams: readonly StoredStream[]): Promise<PublicStream[]> {
  const found = await foundStreams(streams, null)
  const candidates = found.filter(({ status, is_published }) => status === publishedFilter.status && is_published)
  return (await publicStreamsOf(node, candidates)).filter(({ is_live }) => is_live)
}

/** Ties: newest first. */
const byViewers = orderedPages({ viewer_count: ['count', -1], _id: ['text', -1] })
const listName = 'directory all'

interface Page {
  streams: PublicStream[]
  next_cursor: string | null
}

async function listedNow(node: Node, limit: number, cursor: string | undefined): Promise<Page> {
  const found = await Streams.find({ ...publishedFilter, ...byViewers.after(listName, cursor) })
    .sort(byViewers.sort)
    .limit(limit + 1)
    .lean<StoredStream[]>()
  const { rows, next_cursor } = byViewers.cut(listName, found, limit)
  return { streams: await listedAmong(node, rows), next_cursor }
}

/** A page of live streams, by viewers. A connection that asks gets notices of later changes. */
export function readDirectory(
  { node, connection }: Pick<Context, 'node' | 'connection'>,
  limit: number,
  cursor: string | undefined,
): Promise<Page> {
  if (!connection) return listedNow(node, limit, cursor)
  const state = directoryOf(node)
  const isAlone = !hasReaders(node)
  const answer = state.alone.then(async () => {
    const isFirst = !hasReaders(node)
    if (isFirst) forget(node)
    connection.join(directory)
    const page = await listedNow(node, limit, cursor)
    noteAnswer(node, page.streams, { isFirst, isCut: cursor !== undefined || page.next_cursor !== null })
    return page
  })
  const ended = Promise.allSettled([isAlone ? state.alone : state.beside, answer])
  if (isAlone) state.alone = ended
  else state.beside = ended
  return answer
}

function noteAnswer(
  node: Node,
  listed: readonly PublicStream[],
  { isFirst, isCut }: { isFirst: boolean; isCut: boolean },
) {
  const { sent, answered } = directoryOf(node)
  for (const stream of listed) {
    const text = JSON.stringify(stream)
    if (isFirst) sent.set(stream.id, text)
    else if (sent.get(stream.id) !== text) answered.add(stream.id)
  }
  if (isCut) return
  const ids = new Set(listed.map(({ id }) => id))
  for (const id of sent.keys()) {
    if (ids.has(id)) continue
    sent.delete(id)
    answered.add(id)
  }
}

/** Notifies the readers at this node of a stream that has changed. */
export function notifyDirectoryOf(node: Node, id: string): void {
  directoryOf(node).changed.add(id)
  queueNotice(node, false)
}

/** Notifies the readers at this node of all changes, also of those by time, lost pictures or viewers. */
export const notifyDirectory = (node: Node): void => queueNotice(node, true)

function queueNotice(node: Node, isWhole: boolean): void {
  const state = directoryOf(node)
  state.alone = Promise.allSettled([state.alone, state.beside])
    // Answers leave before the notice.
    .then(() => turnOfLoop())
    .then(() => sendNotice(node, isWhole))
    .catch((error: unknown) => node.logger.warn({ error }, 'who looks at the directory was not told of a change'))
}

async function sendNotice(node: Node, isWhole: boolean): Promise<void> {
  const { sent, answered, changed } = directoryOf(node)
  if (!hasReaders(node)) return forget(node)
  const asked = new Set([...changed, ...answered, ...(isWhole ? sent.keys() : [])])
  changed.clear()
  if (asked.size === 0 && !isWhole) return
  const named = { _id: { $in: [...asked] } }
  const found = await Streams.find(isWhole ? { $or: [named, publishedFilter] } : named).lean<StoredStream[]>()
  const listed = await listedAmong(node, found)
  const ids = new Set(listed.map(({ id }) => id))
  const updated = listed.filter((stream) => answered.has(stream.id) || sent.get(stream.id) !== JSON.stringify(stream))
  const added = updated.filter(({ id }) => !sent.has(id))
  const removed = [...asked].filter((id) => !ids.has(id) && (sent.has(id) || answered.has(id)))
  for (const stream of updated) sent.set(stream.id, JSON.stringify(stream))
  for (const id of removed) sent.delete(id)
  answered.clear()
  if (updated.length + removed.length > 0) node.live.send(streamListed, directory, { added, updated, removed })
}

function forget(node: Node): void {
  const { sent, answered, changed } = directoryOf(node)
  for (const known of [sent, answered, changed]) known.clear()
}
