import { audiences, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { streamAssetChanged, streamCounted, streamHealth, streamStateChanged } from '#shared/api/stream-events'
import { tellOfAll, tellOfOne } from './directory.ts'
import { type StoredAsset, type StoredStream, StreamAssets, Streams } from './model.ts'
import { assetOf, countsOf, stateOf } from './shown.ts'
import { isShownLive } from './states.ts'

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
const toldOn = nodeState(() => ({ streams: new Map<string, Told>() }))

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
  else forget(node, id)
}

async function tellRow(node: Node, stream: StoredStream): Promise<void> {
  const { streams } = toldOn(node)
  const { _id: id, v, counts_v, assets_v } = stream
  const told = streams.get(id)
  if (told && isOlder(stream, told)) return
  const isOver = stream.status === 'ended' && node.live.audienceSize('/streams', audiences.stream(id)) === 0
  const isChanged = told?.v !== v
  if (isChanged) tellOfOne(node, id)
  if (isOver && !told) return
  const now = told ?? saidOf(node, stream, [])
  const [isCounted, hasAssets] = [told?.counts !== counts_v, told?.assets !== assets_v]
  streams.set(id, Object.assign(now, { v, counts: counts_v, assets: assets_v, at: node.now() }))
  // What has ended is watched by nobody, which is told with its end.
  if (isCounted && isChanged && stream.status === 'ended') tellCountsNow(node, now, stream)
  else if (isCounted) tellCountsSoon(node, now, stream)
  if (isChanged) {
    const state = stateOf(stream, isShownLive(stream, node.now(), null))
    node.live.send(streamStateChanged, audiences.stream(id), state)
    for (const owner of ownersBeside(node, stream)) owner.emit(streamStateChanged, state)
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

function forget(node: Node, id: string): void {
  const { streams } = toldOn(node)
  const told = streams.get(id)
  if (told) told.uncounted = null
  streams.delete(id)
  tellOfOne(node, id)
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
  tellOfAll(node)
  const { streams } = toldOn(node)
  if (!node.alone) {
    const ids = [...streams.keys()]
    const found = await Streams.find({ $or: [{ _id: { $in: ids } }, { status: 'live' }] }).lean<StoredStream[]>()
    const there = new Set(found.map(({ _id }) => _id))
    for (const id of ids) if (!there.has(id)) forget(node, id)
    for (const stream of found) await tellRow(node, stream)
  }
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
