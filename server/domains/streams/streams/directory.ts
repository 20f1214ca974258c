import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { orderedPages } from '#server/kernel/pages'
import { streamListed } from '#shared/api/stream-events'
import type { PublicStream } from '#shared/api/stream-records'
import { type StoredStream, Streams } from './model.ts'
import { publicStreamsOf } from './shown.ts'

/** The audience of those who look at the list of who is live. */
const directory = audiences.stream('live')

const directoryOf = nodeState(() => ({
  /** What all who look here know: of each stream that they were told of, the text that was told last. */
  told: new Map<string, string>(),
  /** Streams that some were answered otherwise than all were told. */
  answered: new Set<string>(),
  /** Streams that stand otherwise since all were told last. */
  changed: new Set<string>(),
  /** Answers go beside each other, and each tell alone: what is told comes after what was answered, and is newer. */
  alone: Promise.resolve() as Promise<unknown>,
  beside: Promise.resolve() as Promise<unknown>,
}))

const isLookedAt = (node: Node) => node.live.audienceSize('/streams', directory) > 0

/** What is live by its row: what an owner says alone, before a picture has come, lists nobody. */
export const published = { status: 'live', is_published: true } as const

/** Those of these that are in the directory, as everybody sees them. */
async function listedAmong(node: Node, found: readonly StoredStream[]): Promise<PublicStream[]> {
  const candidates = found.filter(({ status, is_published }) => status === published.status && is_published)
  return (await publicStreamsOf(node, candidates)).filter(({ is_live }) => is_live)
}

/** Of those whom equally many watch, whoever made theirs last comes first. */
const byViewers = orderedPages({ viewer_count: ['count', -1], _id: ['text', -1] })
const everybodys = 'directory all'

interface Page {
  streams: PublicStream[]
  next_cursor: string | null
}

async function listedNow(node: Node, limit: number, cursor: string | undefined): Promise<Page> {
  const found = await Streams.find({ ...published, ...byViewers.after(everybodys, cursor) })
    .sort(byViewers.sort)
    .limit(limit + 1)
    .lean<StoredStream[]>()
  const { rows, next_cursor } = byViewers.cut(everybodys, found, limit)
  return { streams: await listedAmong(node, rows), next_cursor }
}

/** A page of who is live, by viewers; a connection that asks is told of what changes from then on. */
export function readDirectory(
  { node, connection }: Pick<Context, 'node' | 'connection'>,
  limit: number,
  cursor: string | undefined,
): Promise<Page> {
  if (!connection) return listedNow(node, limit, cursor)
  const state = directoryOf(node)
  const isAlone = !isLookedAt(node)
  const answer = state.alone.then(async () => {
    const isFirst = !isLookedAt(node)
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
  const { told, answered } = directoryOf(node)
  for (const stream of listed) {
    const text = JSON.stringify(stream)
    if (isFirst) told.set(stream.id, text)
    else if (told.get(stream.id) !== text) answered.add(stream.id)
  }
  if (isCut) return
  const ids = new Set(listed.map(({ id }) => id))
  for (const id of told.keys()) {
    if (ids.has(id)) continue
    told.delete(id)
    answered.add(id)
  }
}

/** To be called when a stream stands otherwise: those here who look at the directory are told what that changes in it. */
export function tellOfOne(node: Node, id: string): void {
  directoryOf(node).changed.add(id)
  tell(node, false)
}

/** Tells those here who look at the directory all that has changed in it, also as time has passed, pictures were lost, or people watch. */
export const tellOfAll = (node: Node): void => tell(node, true)

function tell(node: Node, isWhole: boolean): void {
  const state = directoryOf(node)
  state.alone = Promise.allSettled([state.alone, state.beside])
    // An answer that was made leaves before this is told.
    .then(() => turnOfLoop())
    .then(() => tellNow(node, isWhole))
    .catch((error: unknown) => node.logger.warn({ error }, 'who looks at the directory was not told of a change'))
}

async function tellNow(node: Node, isWhole: boolean): Promise<void> {
  const { told, answered, changed } = directoryOf(node)
  if (!isLookedAt(node)) return forget(node)
  const asked = new Set([...changed, ...answered, ...(isWhole ? told.keys() : [])])
  changed.clear()
  if (asked.size === 0 && !isWhole) return
  const named = { _id: { $in: [...asked] } }
  const found = await Streams.find(isWhole ? { $or: [named, published] } : named).lean<StoredStream[]>()
  const listed = await listedAmong(node, found)
  const ids = new Set(listed.map(({ id }) => id))
  const updated = listed.filter((stream) => answered.has(stream.id) || told.get(stream.id) !== JSON.stringify(stream))
  const added = updated.filter(({ id }) => !told.has(id))
  const removed = [...asked].filter((id) => !ids.has(id) && (told.has(id) || answered.has(id)))
  for (const stream of updated) told.set(stream.id, JSON.stringify(stream))
  for (const id of removed) told.delete(id)
  answered.clear()
  if (updated.length + removed.length > 0) node.live.send(streamListed, directory, { added, updated, removed })
}

function forget(node: Node): void {
  const { told, answered, changed } = directoryOf(node)
  for (const known of [told, answered, changed]) known.clear()
}
