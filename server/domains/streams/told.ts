import { audiences, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { streamAssetChanged, streamCounted, streamHealth, streamListed, streamStateChanged } from '#shared/api/streams'
import { type StoredAsset, type StoredStream, StreamAssets, Streams } from './model.ts'
import { assetOf, countsOf, publicStreamsOf, stateOf } from './shown.ts'
import { isShownLive } from './states.ts'

/** The audience of those who look at the list of who is live. */
export const directory = audiences.stream('live')
const topic = 'streams'
const lookMilliseconds = 2_000
const healthMilliseconds = 5_000
const mostLive = 1_000
const countMilliseconds = 1_000
const resentMilliseconds = 15_000

interface Told {
  v: number
  counts: number
  assets: number
  /** What was said of each recording. */
  said: Map<string, string>
  at: number
  /** When counts were told last, by a clock that nobody sets. */
  countedAt: number
  /** Counts that are told as soon as a second has passed since; the newest of them. */
  uncounted: StoredStream | null
}
const toldOn = nodeState(() => ({
  streams: new Map<string, Told>(),
  listed: new Set<string>(),
  /** Live streams whose counts the directory has not been told. */
  counted: new Set<string>(),
}))

/** To be called after each change of a stream or of its recordings: tells who watches it, on every node. */
export async function tellStream(node: Node, id: string): Promise<void> {
  node.peers.tell(topic, { id })
  await tellHere(node, id)
}

/** Somebody here was answered this: what comes after it is told to them. */
export function follow(node: Node, stream: StoredStream, assets: readonly StoredAsset[]): void {
  const { streams } = toldOn(node)
  if (!streams.has(stream._id)) streams.set(stream._id, saidOf(node, stream, assets))
}

const saidOf = (node: Node, stream: StoredStream, assets: readonly StoredAsset[]): Told => ({
  ...{ v: stream.v, counts: stream.counts_v, assets: stream.assets_v, at: node.now() },
  said: new Map(assets.map((asset) => [asset._id, JSON.stringify(assetOf(asset))])),
  ...{ countedAt: Number.NEGATIVE_INFINITY, uncounted: null },
})

/** Says of a stream what this node has not said yet. */
async function tellHere(node: Node, id: string): Promise<void> {
  const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
  if (stream) await tellRow(node, stream)
  else forget(node, [id])
}

async function tellRow(node: Node, stream: StoredStream): Promise<void> {
  const { streams, listed, counted } = toldOn(node)
  const { _id: id, v, counts_v, assets_v } = stream
  const told = streams.get(id)
  if (told && isOlder(stream, told)) return
  const isOver = stream.status === 'ended' && node.live.audienceSize('/streams', audiences.stream(id)) === 0
  if (isOver && !told && !listed.has(id)) return
  const now = told ?? saidOf(node, stream, [])
  const [isCounted, isChanged, hasAssets] = [told?.counts !== counts_v, told?.v !== v, told?.assets !== assets_v]
  streams.set(id, Object.assign(now, { v, counts: counts_v, assets: assets_v, at: node.now() }))
  if (isCounted && stream.status === 'live') counted.add(id)
  if (isCounted) tellCountsSoon(node, now, stream)
  if (isChanged) {
    const state = stateOf(stream, isShownLive(stream, node.now(), null))
    node.live.send(streamStateChanged, audiences.stream(id), state)
    for (const owner of ownersBeside(node, stream)) owner.emit(streamStateChanged, state)
    if (stream.status === 'live' && stream.is_published) {
      const isNew = !listed.has(id)
      listed.add(id)
      counted.delete(id)
      if (node.live.audienceSize('/streams', directory) > 0) {
        const updated = await publicStreamsOf(node, [stream])
        node.live.send(streamListed, directory, { added: isNew ? updated : [], updated, removed: [] })
      }
    } else unlist(node, [id])
  }
  if (hasAssets) await tellAssets(node, id)
  if (isOver) streams.delete(id)
}

/** Nobody is told counts more often than once a second, however many nodes count: what comes sooner waits, and the last of it is told. */
function tellCountsSoon(node: Node, told: Told, stream: StoredStream): void {
  const wait = told.countedAt + countMilliseconds - performance.now()
  if (told.uncounted === null && wait > 0)
    setTimeout(() => told.uncounted && tellCountsNow(node, told, told.uncounted), Math.ceil(wait)).unref()
  if (wait > 0) told.uncounted = stream
  else tellCountsNow(node, told, stream)
}

function tellCountsNow(node: Node, told: Told, stream: StoredStream): void {
  told.uncounted = null
  told.countedAt = performance.now()
  const counts = countsOf(stream)
  node.live.send(streamCounted, audiences.stream(stream._id), counts)
  for (const owner of ownersBeside(node, stream)) owner.emit(streamCounted, counts)
}

/** The owner, who may watch as well and is told once. */
const ownersBeside = ({ live }: Node, { _id, user_address }: StoredStream) =>
  live
    .connectionsOf('/streams', audiences.account(user_address))
    .filter((connection) => !connection.has(audiences.stream(_id)))

/** A row that was read earlier than what was told, and came later. */
const isOlder = ({ v, counts_v, assets_v }: StoredStream, told: Told): boolean =>
  v < told.v || counts_v < told.counts || assets_v < told.assets

async function tellAssets(node: Node, id: string): Promise<void> {
  const assets = await StreamAssets.find({ stream: id }).lean<StoredAsset[]>()
  for (const asset of assets.map(assetOf)) {
    const said = toldOn(node).streams.get(id)?.said
    const text = JSON.stringify(asset)
    if (said?.get(asset.id) === text) continue
    said?.set(asset.id, text)
    node.live.send(streamAssetChanged, audiences.stream(id), { stream_id: id, asset })
  }
}

/** Somebody here was answered a list of these: they are told of each that is live no more. */
export function list(node: Node, ids: readonly string[]): void {
  for (const id of ids) toldOn(node).listed.add(id)
}

/** The counts of all that changed since the last time, in one frame. */
async function tellCounts(node: Node): Promise<void> {
  const { counted } = toldOn(node)
  const ids = [...counted]
  counted.clear()
  if (ids.length === 0 || node.live.audienceSize('/streams', directory) === 0) return
  const found = await Streams.find({ _id: { $in: ids }, status: 'live' }).lean<StoredStream[]>()
  const updated = (await publicStreamsOf(node, found)).filter(({ is_live }) => is_live)
  if (updated.length > 0) node.live.send(streamListed, directory, { added: [], updated, removed: [] })
}

function forget(node: Node, ids: readonly string[]): void {
  const { streams } = toldOn(node)
  for (const id of ids) {
    const told = streams.get(id)
    if (told) told.uncounted = null
    streams.delete(id)
  }
  unlist(node, ids)
}

function unlist(node: Node, ids: readonly string[]): void {
  const removed = ids.filter((id) => toldOn(node).listed.delete(id))
  if (removed.length > 0) node.live.send(streamListed, directory, { added: [], updated: [], removed })
}

/** Hears what other nodes changed; what they say may be lost, so it looks for itself as well. */
export function followStreams(node: Node): () => void {
  const warn = (error: unknown) => node.logger.warn({ error }, 'a stream could not be told')
  const stop = node.peers.listen(topic, (word) => {
    const { id } = word as { id?: string }
    if (typeof id === 'string') tellHere(node, id).catch(warn)
  })
  const timer = setInterval(() => void look(node).catch(warn), lookMilliseconds).unref()
  const health = setInterval(() => void tellHealth(node).catch(warn), healthMilliseconds).unref()
  return () => {
    stop()
    clearInterval(timer)
    clearInterval(health)
  }
}

/** Tells owners who are connected here. */
async function tellHealth(node: Node): Promise<void> {
  if (node.live.connections() === 0) return
  for (const stream of await Streams.find({ status: 'live' }).limit(mostLive).lean<StoredStream[]>()) {
    const owner = audiences.account(stream.user_address)
    if (node.live.audienceSize('/streams', owner) === 0) continue
    const { _id, stream_id, seen_at, is_published, grace_until } = stream
    const { bitrate, dropped } =
      (await node.services.video?.status([stream_id]).catch(() => null))?.get(stream_id) ?? {}
    node.live.send(streamHealth, owner, {
      stream_id: _id,
      last_ingest_at: seen_at?.toISOString() ?? null,
      is_published: is_published && !grace_until,
      ...(bitrate === undefined ? {} : { bitrate }),
      ...(dropped === undefined ? {} : { dropped }),
    })
  }
}

async function look(node: Node): Promise<void> {
  const { streams, listed } = toldOn(node)
  if (!node.alone) {
    const ids = [...new Set([...streams.keys(), ...listed])]
    const found = await Streams.find({ $or: [{ _id: { $in: ids } }, { status: 'live' }] }).lean<StoredStream[]>()
    const there = new Set(found.map(({ _id }) => _id))
    forget(
      node,
      ids.filter((id) => !there.has(id)),
    )
    for (const stream of found) await tellRow(node, stream)
  }
  await tellCounts(node)
  const now = node.now()
  const quiet = [...streams].filter(([, { at }]) => now - at >= resentMilliseconds).map(([id]) => id)
  if (quiet.length === 0) return
  for (const stream of await Streams.find({ _id: { $in: quiet } }).lean<StoredStream[]>()) {
    const told = streams.get(stream._id)
    if (told && isOlder(stream, told)) continue
    if (told) told.at = now
    if (stream.status === 'ended') {
      await tellRow(node, stream)
      continue
    }
    if (told) tellCountsSoon(node, told, stream)
  }
}
