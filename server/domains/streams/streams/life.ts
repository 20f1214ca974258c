import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { accountSuspended } from '#server/domains/people/accounts/events'
import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { isRowOf } from '#server/domains/rooms/events/define'
import { actorOf, archiveRoom, rightsIn } from '#server/domains/rooms/room-state/standing'
import { foundRoom, refuseFounding } from '#server/domains/rooms/rooms/founding'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { seal } from '#server/kernel/seal'
import { retryOnStart } from '#server/kernel/work/every'
import { job, PermanentFailure } from '#server/kernel/work/jobs'
import { GLOBAL } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { VideoAsset, VideoEvent } from '#server/ports/video/port'
import type { streams as contract } from '#shared/api/streams/streams'
import { AppError, type ErrorExtras } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { roomKey } from '#shared/kit/primitives'
import { OpenStreams, type StoredAsset, type StoredStream, StreamAssets, Streams, Viewers } from './model.ts'
import { notifyWatchers } from './notices.ts'
import { foundStreams, picturesSeen, providerStatusOf, streamKeyContext } from './render.ts'
import { isShownLive, nextStreamState, type StreamEvent } from './states.ts'
import { countViewersSoon } from './viewers.ts'

export const assetsOf = (stream: string): Promise<StoredAsset[]> =>
  StreamAssets.find({ stream }).sort({ recorded_from: 1, _id: 1 }).limit(100).lean<StoredAsset[]>()

/** Stores a recording as the provider reports it, and notifies the watchers of the stream. */
async function keepAsset(node: Node, asset: VideoAsset): Promise<void> {
  const stream = await Streams.findOne({ stream_id: asset.streamId }, { _id: 1 }).lean<Pick<StoredStream, '_id'>>()
  if (stream) await store(node, stream._id, asset)
}

/** Loads the recordings from the provider. If it does not answer, the stored rows stay. */
export async function refreshAssets(node: Node, { _id, stream_id }: StoredStream): Promise<void> {
  const assets = await node.services.video?.assets(stream_id).catch(() => [])
  for (const asset of assets ?? []) await store(node, _id, asset)
}

/** Reports arrive late, and at several nodes: the recording with the higher rank stays. */
async function store(node: Node, stream: string, asset: VideoAsset): Promise<void> {
  const { assetId: _id } = asset
  const row = {
    ...{ stream, phase: asset.phase, progress: asset.progress, error: asset.error, rank: rankOf(asset) },
    ...{ playback_id: asset.playbackId, playback_url: asset.playbackUrl, download_url: asset.downloadUrl },
    ...{ duration_seconds: asset.durationSeconds, size_bytes: asset.sizeBytes },
    ...{ recorded_from: asset.startedAt, created_at: asset.startedAt },
  }
  const known = await StreamAssets.findOne({ _id }).lean<StoredAsset>()
  if (known && Object.entries(row).every(([name, value]) => String(known[name as keyof StoredAsset]) === String(value)))
    return
  const isStored = known ? false : await StreamAssets.create({ _id, ...row }).then(yes, no)
  const isNewer =
    isStored || (await StreamAssets.updateOne({ _id, rank: { $lte: row.rank } }, { $set: row })).matchedCount
  if (!isNewer) return
  await Streams.updateOne({ _id: stream }, { $inc: { assets_v: 1 } })
  await notifyWatchers(node, stream)
}

const [yes, no] = [() => true, () => false]
const rankOf = ({ phase, progress }: VideoAsset) =>
  ({ waiting: 0, processing: 1 + progress, failed: 3, ready: 3 })[phase]

/** Loads a stream. Throws STREAM_NOT_FOUND, with these details. */
export async function streamOf(id: string, details?: ErrorExtras['details']): Promise<StoredStream> {
  const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
  if (!stream) throw new AppError('STREAM_NOT_FOUND', details && { details })
  return stream
}

/** Loads a stream that the caller may read: one of somebody who is found. Throws STREAM_NOT_FOUND. */
export async function visibleStream({ caller }: Pick<Context, 'caller'>, id: string): Promise<StoredStream> {
  const [stream] = await foundStreams([await streamOf(id)], caller.account)
  if (!stream) throw new AppError('STREAM_NOT_FOUND')
  return stream
}

/** Loads a stream of the caller. Throws ACCESS_DENIED for one of somebody else. */
export async function ownStream(context: Context, id: string): Promise<StoredStream> {
  const { account } = signedIn(context)
  const stream = await streamOf(id)
  if (!isSameAccount(stream.user_address, account)) throw new AppError('ACCESS_DENIED', { message: 'Not authorized' })
  return stream
}

/** Loads a stream that the caller may end: their own, or any for a global moderator. Throws ACCESS_DENIED otherwise. */
export async function stoppableStream(context: Context, id: string): Promise<StoredStream> {
  const { account } = signedIn(context)
  const stream = await streamOf(id)
  if (isSameAccount(stream.user_address, account)) return stream
  const { isModerator } = await context.node.log.ask(GLOBAL, (view, now) => rightsIn(view, account, now))
  return isModerator ? stream : ownStream(context, id)
}

/** The event by which an account ends a stream: `end` by its owner, `shut` by a moderator. */
export const endEventOf = ({ user_address }: StoredStream, account: string | null): 'end' | 'shut' =>
  isSameAccount(user_address, account) ? 'end' : 'shut'

const attempts = 5

/** Applies an event to a stream, once for all nodes. Returns null if it changes nothing. Its end clears the viewers. */
export async function applyStreamEvent(
  node: Node,
  id: string,
  event: StreamEvent,
  isShown = event !== 'shut',
): Promise<StoredStream | null> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    const change = stream && nextStreamState(stream, event, node.now(), node.settings.streamGraceMilliseconds)
    if (!change) return null
    const seen = event === 'started' ? { seen_at: new Date(node.now()) } : {}
    const isOver = change.status === 'ended'
    const counted = isOver ? { viewer_count: 0, socket_viewers: 0, counted_at: new Date(node.now()) } : {}
    const { matchedCount } = await Streams.updateOne(
      { _id: id, v: stream.v },
      { $set: { ...change, ...seen, ...counted }, $inc: { v: 1, ...(isOver ? { counts_v: 1 } : {}) } },
    )
    if (matchedCount === 0) continue
    const counts_v = stream.counts_v + (isOver ? 1 : 0)
    const changed = { ...stream, ...change, ...counted, counts_v, v: stream.v + 1 }
    if (changed.status === 'ended') await closeStream(node, changed, isShown)
    await notifyWatchers(node, id)
    return changed
  }
  throw new AppError('CONFLICT')
}

/** Stops publishing, and lets the owner make another stream. */
async function closeStream(node: Node, stream: StoredStream, isShown: boolean): Promise<void> {
  const { _id, user_address } = stream
  await OpenStreams.deleteOne({ _id: user_address, stream: _id })
  countViewersSoon(node, _id)
  await Viewers.updateMany({ stream: _id }, { $set: { gone_at: new Date(node.now()) } })
  await endAtProvider(node, stream, isShown)
}

/** Ends a stream and hides its last seconds, also if it has ended already. */
export async function takeDownStream(node: Node, stream: StoredStream, how: 'end' | 'shut'): Promise<void> {
  if (!(await applyStreamEvent(node, stream._id, how, false))) await endAtProvider(node, stream, false)
}

async function endAtProvider(node: Node, { _id, stream_id }: StoredStream, isShown: boolean): Promise<void> {
  await node.services.video?.endStream(stream_id, isShown).catch((error: unknown) => {
    // The sweep tries again while the provider reports a publisher.
    node.logger.warn({ error, stream: _id }, 'the provider did not end a stream')
  })
}

/** A stream under creation blocks another one of its owner for so long, in case its process has died. */
const makingMilliseconds = 30_000
/** Other requests of the owner wait for so long. */
const waitedMilliseconds = 10_000
const lookAgainMilliseconds = 100

/** The open stream of the caller, or a new one. Of simultaneous requests one creates it, and the others wait. */
export async function openStream(
  context: Context,
  { title = 'Live', description = null, record }: InputOf<typeof contract.create>,
): Promise<{ stream: StoredStream; existing: boolean }> {
  const { node, creationId } = context
  const { account } = signedIn(context)
  const { video } = node.services
  if (!video) throw new AppError('SERVICE_UNAVAILABLE', { message: 'Livestreams are not configured here' })
  await refuseFounding(node, account, { name: title, description })
  const lacks = video.lacks?.()
  if (lacks) throw new AppError('SERVICE_UNAVAILABLE', { message: lacks })
  const until = performance.now() + waitedMilliseconds
  for (;;) {
    const held = await OpenStreams.findOne({ _id: account }).lean<{ stream: string; at: Date }>()
    const open = held && (await stillOpen(node, held.stream))
    if (open) return { stream: open, existing: true }
    const isBeingMade = held !== null && open === null && node.now() - held.at.getTime() < makingMilliseconds
    if (!isBeingMade && (await takeOpenStream(node, account, held?.stream ?? null, creationId))) break
    if (performance.now() > until) throw new AppError('CONFLICT', { message: 'A stream of yours is being made' })
    await pause(lookAgainMilliseconds)
  }
  try {
    return { stream: await createStream(context, { account, title, description, record }), existing: false }
  } catch (error) {
    await OpenStreams.deleteOne({ _id: account, stream: creationId })
    throw error
  }
}

/** False if the stream has ended, or was stale and is ended now; null if it is not created yet. */
async function stillOpen(node: Node, id: string): Promise<StoredStream | false | null> {
  const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
  if (!stream) return null
  const now = (await applyStreamEvent(node, id, 'tick')) ?? stream
  if (now.status === 'ended') return false
  const isSeen = (await picturesSeen(node, [now]))(now)
  if (!now.is_published || isShownLive(now, node.now(), isSeen)) return now
  await applyStreamEvent(node, id, 'end')
  return false
}

/** Of simultaneous requests one takes the place. */
async function takeOpenStream(node: Node, account: string, from: string | null, to: string): Promise<boolean> {
  const at = new Date(node.now())
  if (from === null)
    return OpenStreams.create({ _id: account, stream: to, at }).then(
      () => true,
      (error: unknown) => {
        if (isDuplicate(error)) return false
        throw error
      },
    )
  const { matchedCount } = await OpenStreams.updateOne({ _id: account, stream: from }, { $set: { stream: to, at } })
  return matchedCount === 1
}

async function createStream(
  context: Context,
  { account, title, description, record }: Pick<StoredStream, 'title' | 'description' | 'record'> & { account: string },
): Promise<StoredStream> {
  const { node, creationId: _id } = context
  const created = await node.services.video
    ?.createStream({ name: title, record })
    .catch((error: unknown) => Promise.reject(new AppError('LIVEPEER_ERROR', { cause: error })))
  if (!created) throw new AppError('SERVICE_UNAVAILABLE')
  const now = new Date(node.now())
  try {
    await foundRoom(context, 'stream', { name: title, description, emoji: '📺' }, [], _id)
    // Waiting requests find the stream from here on.
    const stream = await Streams.create({
      ...{ _id, user_address: account, title, description, record },
      ...{ stream_id: created.streamId, playback_id: created.playbackId },
      stream_key: seal(node.settings.sessionKeys, created.streamKey, streamKeyContext(_id)),
      ...{ status: 'idle', reason: 'waiting', v: 1, is_published: false, counts_v: 1, assets_v: 1 },
      ...{ created_at: now, counted_at: now },
    })
    return stream.toObject()
  } catch (error) {
    await node.jobs.add(streamRemoval, { stream: _id, provided: created.streamId, by: account })
    throw error
  }
}

/** Ends the streams of an account that is suspended. The sweep ends those that are missed here. */
export function endStreamsOfSuspended(node: Node): () => void {
  node.log.onRows((key, rows, isOurs) => {
    if (key !== GLOBAL || !isOurs) return
    for (const row of rows) {
      if (!isRowOf(row, accountSuspended) || row.target === null) continue
      endStreamsOf(node, row.target).catch((error: unknown) =>
        node.logger.warn({ error }, 'the stream of a suspended account was not ended'),
      )
    }
  })
  return () => {}
}

const shownMilliseconds = 120_000

async function endStreamsOf(node: Node, account: string): Promise<void> {
  const isOpen = { status: { $in: ['idle' as const, 'live' as const] } }
  const isShown = { ended_at: { $gt: new Date(node.now() - shownMilliseconds) } }
  const streams = await Streams.find({ user_address: account, $or: [isOpen, isShown] }).lean<StoredStream[]>()
  for (const stream of streams) await takeDownStream(node, stream, 'shut')
}

const eventTypes = {
  'ingest.started': 'started',
  'ingest.interrupted': 'interrupted',
  'ingest.stopped': 'stopped',
} as const

/** Applies an event of the provider. */
export async function applyProviderEvent(node: Node, event: VideoEvent): Promise<void> {
  if (event.type === 'asset.updated') return keepAsset(node, event.asset)
  const stream = await Streams.findOne(
    { stream_id: event.streamId },
    { _id: 1, status: 1, reason: 1 },
  ).lean<StoredStream>()
  if (!stream) return
  if (stream.status === 'ended' && event.type === 'ingest.started')
    await node.services.video?.endStream(event.streamId, stream.reason !== 'ended_by_moderator')
  else await applyStreamEvent(node, stream._id, eventTypes[event.type])
}

/** Whether the stream may be published: an ended or deleted one may not. */
export async function isStreamOpen(streamId: string): Promise<boolean> {
  const stream = await Streams.findOne({ stream_id: streamId }, { status: 1 }).lean<Pick<StoredStream, 'status'>>()
  return stream !== null && stream.status !== 'ended'
}

const sweptAtOnce = 500

/** Ends streams that are over, and asks the provider: its events are lost when a process dies. */
export async function sweepStreams(node: Node): Promise<void> {
  for (let after = ''; ; ) {
    const open = await Streams.find({ status: { $in: ['idle', 'live'] }, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(sweptAtOnce)
      .lean<StoredStream[]>()
    await sweep(node, open)
    after = open[sweptAtOnce - 1]?._id ?? ''
    if (after === '') return
  }
}

/** After a restart or a restored backup: ends streams that are live by their rows and are published no more. */
export async function endForgottenStreams(node: Node): Promise<void> {
  if (!node.alone) return
  await retryOnStart(() => providerStatusOf(node, []))
  await sweepStreams(node)
}

async function sweep(node: Node, open: readonly StoredStream[]): Promise<void> {
  if (open.length === 0) return
  const ids = open.map(({ stream_id }) => stream_id)
  const statuses = await providerStatusOf(node, ids).catch(() => null)
  const seen: string[] = []
  const suspended = await suspendedAccountsAmong(open.map(({ user_address }) => user_address))
  for (const stream of open) {
    if (suspended.has(stream.user_address)) {
      await applyStreamEvent(node, stream._id, 'shut')
      continue
    }
    const state = statuses?.get(stream.stream_id)?.state
    if (state === 'live') seen.push(stream._id)
    const event = state === 'live' ? 'started' : state && stream.is_published ? 'interrupted' : 'tick'
    await applyStreamEvent(node, stream._id, event)
    if (event === 'interrupted') await applyStreamEvent(node, stream._id, 'tick')
    else if (statuses && state === undefined) await interruptMissing(node, stream)
  }
  if (seen.length > 0) await Streams.updateMany({ _id: { $in: seen } }, { $set: { seen_at: new Date(node.now()) } })
}

const lostMilliseconds = 10_000

/** The provider's part with the stream is away, and may return within the grace. Without other nodes it never will later. */
async function interruptMissing(node: Node, { _id, status, seen_at }: StoredStream): Promise<void> {
  const unseen = node.now() - (seen_at?.getTime() ?? 0)
  if (status !== 'live' || unseen <= lostMilliseconds) return
  await applyStreamEvent(node, _id, 'interrupted')
  if (node.alone && unseen > lostMilliseconds + node.settings.streamGraceMilliseconds)
    await applyStreamEvent(node, _id, 'stopped')
}

/** Deletes all data of a removed stream. */
export const streamRemoval = job({
  kind: 'streams.remove',
  payload: z.object({ stream: z.string(), provided: z.string(), by: z.string(), owner: z.string().optional() }),
  async run({ stream, provided, by, owner = by }, { node }) {
    await Streams.deleteOne({ _id: stream })
    await OpenStreams.deleteOne({ _id: owner, stream })
    await StreamAssets.deleteMany({ stream })
    await Viewers.deleteMany({ stream })
    await archiveRoom(node, roomKey({ type: 'stream', id: stream }), await actorOf(node, by))
    if (!node.services.video) throw new PermanentFailure('Livestreams are not configured')
    await node.services.video.deleteStream(provided)
  },
})
