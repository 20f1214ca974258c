import { z } from 'zod'
import { repeatWork } from '#server/kernel/beat'
import { audiences, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerTopic } from '#server/kernel/peer-message'
import { streamAssetChanged, streamCounted, streamHealth, streamStateChanged } from '#shared/api/streams/stream-events'
import { notifyDirectory, notifyDirectoryOf } from './directory.ts'
import { type StoredAsset, type StoredStream, StreamAssets, Streams } from './model.ts'
import { streamAssetOf, streamCountsOf, streamStateOf } from './render.ts'
import { isShownLive } from './states.ts'

const changedTopic = definePeerTopic('streams', z.object({ id: z.string() }))
const lookMilliseconds = 2_000
const healthMilliseconds = 5_000
const maxLive = 1_000
const countMilliseconds = 1_000
const resentMilliseconds = 15_000

interface SentNotices {
  v: number
  counts: number
  assets: number
  /** The last text that was sent of each recording. */
  recordings: Map<string, string>
  at: number
  /** When counts were last sent, by the monotonic clock. */
  countedAt: number
  /** The newest counts, which are sent when a second has passed. */
  uncounted: StoredStream | null
}
const sentOn = nodeState(() => ({ streams: new Map<string, SentNotices>() }))

/** Notifies the watchers on every node of a change of a stream or of its recordings. */
export async function notifyWatchers(node: Node, id: string): Promise<void> {
  changedTopic.tell(node, '', { id })
  await notifyHere(node, id)
}

/** Sends later changes to a reader here, who has this state. */
export function followStream(node: Node, stream: StoredStream, assets: readonly StoredAsset[]): void {
  const { streams } = sentOn(node)
  if (!streams.has(stream._id)) streams.set(stream._id, sentBy(node, stream, assets))
}

const sentBy = (node: Node, stream: StoredStream, assets: readonly StoredAsset[]): SentNotices => ({
  ...{ v: stream.v, counts: stream.counts_v, assets: stream.assets_v, at: node.now() },
  recordings: new Map(assets.map((asset) => [asset._id, JSON.stringify(streamAssetOf(asset))])),
  ...{ countedAt: Number.NEGATIVE_INFINITY, uncounted: null },
})

/** Sends the changes that this node has not sent yet. */
async function notifyHere(node: Node, id: string): Promise<void> {
  const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
  if (stream) await notifyRow(node, stream)
  else forget(node, id)
}

async function notifyRow(node: Node, stream: StoredStream): Promise<void> {
  const { streams } = sentOn(node)
  const { _id: id, v, counts_v, assets_v } = stream
  const sent = streams.get(id)
  if (sent && isOlder(stream, sent)) return
  const isOver = stream.status === 'ended' && node.live.audienceSize('/streams', audiences.stream(id)) === 0
  const isChanged = sent?.v !== v
  if (isChanged) notifyDirectoryOf(node, id)
  if (isOver && !sent) return
  const now = sent ?? sentBy(node, stream, [])
  const [isCounted, hasAssets] = [sent?.counts !== counts_v, sent?.assets !== assets_v]
  streams.set(id, Object.assign(now, { v, counts: counts_v, assets: assets_v, at: node.now() }))
  // The end of a stream comes with its last counts, as nobody watches it any more.
  if (isCounted && isChanged && stream.status === 'ended') sendCounts(node, now, stream)
  else if (isCounted) sendCountsSoon(node, now, stream)
  if (isChanged) {
    const state = streamStateOf(stream, isShownLive(stream, node.now(), null))
    node.live.send(streamStateChanged, audiences.stream(id), state)
    for (const owner of ownersBeside(node, stream)) owner.emit(streamStateChanged, state)
  }
  if (hasAssets) await sendAssets(node, id)
  if (isOver) streams.delete(id)
}

/** Sends counts at most once a second: later ones wait, and the newest is sent. */
function sendCountsSoon(node: Node, sent: SentNotices, stream: StoredStream): void {
  const wait = sent.countedAt + countMilliseconds - performance.now()
  if (sent.uncounted === null && wait > 0)
    setTimeout(() => sent.uncounted && sendCounts(node, sent, sent.uncounted), Math.ceil(wait)).unref()
  if (wait > 0) sent.uncounted = stream
  else sendCounts(node, sent, stream)
}

function sendCounts(node: Node, sent: SentNotices, stream: StoredStream): void {
  sent.uncounted = null
  sent.countedAt = performance.now()
  const counts = streamCountsOf(stream)
  node.live.send(streamCounted, audiences.stream(stream._id), counts)
  for (const owner of ownersBeside(node, stream)) owner.emit(streamCounted, counts)
}

/** The owner's connections that do not watch the stream, so that each is notified once. */
const ownersBeside = ({ live }: Node, { _id, user_address }: StoredStream) =>
  live
    .connectionsOf('/streams', audiences.account(user_address))
    .filter((connection) => !connection.has(audiences.stream(_id)))

/** A row that was read before a newer one was sent. */
const isOlder = ({ v, counts_v, assets_v }: StoredStream, sent: SentNotices): boolean =>
  v < sent.v || counts_v < sent.counts || assets_v < sent.assets

async function sendAssets(node: Node, id: string): Promise<void> {
  const assets = await StreamAssets.find({ stream: id }).lean<StoredAsset[]>()
  for (const asset of assets.map(streamAssetOf)) {
    const recordings = sentOn(node).streams.get(id)?.recordings
    const text = JSON.stringify(asset)
    if (recordings?.get(asset.id) === text) continue
    recordings?.set(asset.id, text)
    node.live.send(streamAssetChanged, audiences.stream(id), { stream_id: id, asset })
  }
}

function forget(node: Node, id: string): void {
  const { streams } = sentOn(node)
  const sent = streams.get(id)
  if (sent) sent.uncounted = null
  streams.delete(id)
  notifyDirectoryOf(node, id)
}

/** Follows changes of other nodes. Their messages may be lost, so the node reads the rows too. */
export function followStreams(node: Node): () => void {
  const warn = (error: unknown) => node.logger.warn({ error }, 'a stream could not be told')
  const stop = changedTopic.listen(node, '', ({ id }) => void notifyHere(node, id).catch(warn))
  const stopLooking = repeatWork(lookMilliseconds, () => void look(node).catch(warn))
  const stopHealth = repeatWork(healthMilliseconds, () => void sendHealth(node).catch(warn))
  return () => {
    stop()
    stopLooking()
    stopHealth()
  }
}

/** Sends the health of streams to owners who are connected here. */
async function sendHealth(node: Node): Promise<void> {
  if (node.live.connections() === 0) return
  for (const stream of await Streams.find({ status: 'live' }).limit(maxLive).lean<StoredStream[]>()) {
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
  notifyDirectory(node)
  const { streams } = sentOn(node)
  if (!node.alone) {
    const ids = [...streams.keys()]
    const found = await Streams.find({ $or: [{ _id: { $in: ids } }, { status: 'live' }] }).lean<StoredStream[]>()
    const there = new Set(found.map(({ _id }) => _id))
    for (const id of ids) if (!there.has(id)) forget(node, id)
    for (const stream of found) await notifyRow(node, stream)
  }
  const now = node.now()
  const quiet = [...streams].filter(([, { at }]) => now - at >= resentMilliseconds).map(([id]) => id)
  if (quiet.length === 0) return
  for (const stream of await Streams.find({ _id: { $in: quiet } }).lean<StoredStream[]>()) {
    const sent = streams.get(stream._id)
    if (sent && isOlder(stream, sent)) continue
    if (sent) sent.at = now
    if (stream.status === 'ended') {
      await notifyRow(node, stream)
      continue
    }
    if (sent) sendCountsSoon(node, sent, stream)
  }
}
