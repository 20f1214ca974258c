import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { accountSuspended } from '#server/domains/people/accounts/events'
import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { isRowOf } from '#server/domains/rooms/events/define'
import { actorOf } from '#server/domains/rooms/room-state/entries'
import { rightsIn } from '#server/domains/rooms/room-state/standing'
import { archiveRoom, foundRoom, refuseFounding } from '#server/domains/rooms/rooms/founding'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { job, PermanentFailure } from '#server/kernel/jobs'
import { retryOnStart } from '#server/kernel/retry-on-start'
import { seal } from '#server/kernel/seal'
import { GLOBAL } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { VideoEvent } from '#server/ports/video/port'
import type { streams as contract } from '#shared/api/streams'
import { AppError, type ErrorExtras } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { roomKey } from '#shared/kit/primitives'
import { keepAsset } from './assets.ts'
import { OpenStreams, type StoredStream, StreamAssets, Streams, Viewers } from './model.ts'
import { seenAmong, statusOf } from './provider.ts'
import { boundTo } from './shown.ts'
import { type Happening, isShownLive, next } from './states.ts'
import { tellStream } from './told.ts'
import { countViewersSoon } from './viewer-counts.ts'

/** A stream that this account may read: any that there is. Throws STREAM_NOT_FOUND, with these details. */
export async function streamOf(id: string, details?: ErrorExtras['details']): Promise<StoredStream> {
  const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
  if (!stream) throw new AppError('STREAM_NOT_FOUND', details && { details })
  return stream
}

/** A stream of the caller. Throws ACCESS_DENIED for one of somebody else. */
export async function ownStream(context: Context, id: string): Promise<StoredStream> {
  const { account } = signedIn(context)
  const stream = await streamOf(id)
  if (!isSameAccount(stream.user_address, account)) throw new AppError('ACCESS_DENIED', { message: 'Not authorized' })
  return stream
}

/** A stream that the caller may end: their own, or any where they moderate everywhere. Throws ACCESS_DENIED for one of somebody else. */
export async function stoppableStream(context: Context, id: string): Promise<StoredStream> {
  const { account } = signedIn(context)
  const stream = await streamOf(id)
  if (isSameAccount(stream.user_address, account)) return stream
  const { isModerator } = await context.node.log.ask(GLOBAL, (view, now) => rightsIn(view, account, now))
  return isModerator ? stream : ownStream(context, id)
}

/** By its owner, or by somebody who may. */
export const endOf = ({ user_address }: StoredStream, account: string | null): 'end' | 'shut' =>
  isSameAccount(user_address, account) ? 'end' : 'shut'

const attempts = 5

/**
 * What has happened to a stream, written once however many nodes say it. Null where it changes nothing. Where that ends it, watchers see its
 * last seconds, unless it is taken down, and nobody counts as watching it any more.
 */
export async function happen(
  node: Node,
  id: string,
  happening: Happening,
  isShown = happening !== 'shut',
): Promise<StoredStream | null> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    const change = stream && next(stream, happening, node.now(), node.settings.streamGraceMilliseconds)
    if (!change) return null
    const seen = happening === 'started' ? { seen_at: new Date(node.now()) } : {}
    const isOver = change.status === 'ended'
    const counted = isOver ? { viewer_count: 0, socket_viewers: 0, counted_at: new Date(node.now()) } : {}
    const { matchedCount } = await Streams.updateOne(
      { _id: id, v: stream.v },
      { $set: { ...change, ...seen, ...counted }, $inc: { v: 1, ...(isOver ? { counts_v: 1 } : {}) } },
    )
    if (matchedCount === 0) continue
    const counts_v = stream.counts_v + (isOver ? 1 : 0)
    const changed = { ...stream, ...change, ...counted, counts_v, v: stream.v + 1 }
    if (changed.status === 'ended') await close(node, changed, isShown)
    await tellStream(node, id)
    return changed
  }
  throw new AppError('CONFLICT')
}

/** Nobody publishes to it any more, and its owner may make another. */
async function close(node: Node, stream: StoredStream, isShown: boolean): Promise<void> {
  const { _id, user_address } = stream
  await OpenStreams.deleteOne({ _id: user_address, stream: _id })
  countViewersSoon(node, _id)
  await Viewers.updateMany({ stream: _id }, { $set: { gone_at: new Date(node.now()) } })
  await endAtProvider(node, stream, isShown)
}

/** Ends a stream, and shows nothing more of it, also where it has ended already and its last seconds are shown. */
export async function takeDown(node: Node, stream: StoredStream, how: 'end' | 'shut'): Promise<void> {
  if (!(await happen(node, stream._id, how, false))) await endAtProvider(node, stream, false)
}

async function endAtProvider(node: Node, { _id, stream_id }: StoredStream, isShown: boolean): Promise<void> {
  await node.services.video?.endStream(stream_id, isShown).catch((error: unknown) => {
    // It is looked at again as long as the provider says that somebody publishes.
    node.logger.warn({ error, stream: _id }, 'the provider did not end a stream')
  })
}

/** So long a stream that is being made keeps its owner from making another, where its process has died. */
const makingMilliseconds = 30_000
/** So long whoever asks meanwhile waits for it. */
const waitedMilliseconds = 10_000
const lookAgainMilliseconds = 100

/** The open stream of the caller, or a new one. Of several who ask at once one makes it and the others wait for it. */
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
    if (!isBeingMade && (await take(node, account, held?.stream ?? null, creationId))) break
    if (performance.now() > until) throw new AppError('CONFLICT', { message: 'A stream of yours is being made' })
    await pause(lookAgainMilliseconds)
  }
  try {
    return { stream: await make(context, { account, title, description, record }), existing: false }
  } catch (error) {
    await OpenStreams.deleteOne({ _id: account, stream: creationId })
    throw error
  }
}

/** False where it has ended, or is stale and so is ended now; null where it is not made yet. */
async function stillOpen(node: Node, id: string): Promise<StoredStream | false | null> {
  const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
  if (!stream) return null
  const now = (await happen(node, id, 'tick')) ?? stream
  if (now.status === 'ended') return false
  const isSeen = (await seenAmong(node, [now]))(now)
  if (now.status === 'idle' || isShownLive(now, node.now(), isSeen)) return now
  await happen(node, id, 'end')
  return false
}

/** Of those who want the same place at once, one gets it. */
async function take(node: Node, account: string, from: string | null, to: string): Promise<boolean> {
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

async function make(
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
    // Whoever waits for it is given it from here on.
    const stream = await Streams.create({
      ...{ _id, user_address: account, title, description, record },
      ...{ stream_id: created.streamId, playback_id: created.playbackId },
      stream_key: seal(node.settings.sessionKeys, created.streamKey, boundTo(_id)),
      ...{ status: 'idle', reason: 'waiting', v: 1, is_published: false, counts_v: 1, assets_v: 1 },
      ...{ created_at: now, counted_at: now },
    })
    return stream.toObject()
  } catch (error) {
    await node.jobs.add(removal, { stream: _id, provided: created.streamId, by: account })
    throw error
  }
}

/** Who is suspended is on air no more. What is missed here, the sweep finds. */
export function endOfSuspended(node: Node): () => void {
  node.log.onRows((key, rows, isOurs) => {
    if (key !== GLOBAL || !isOurs) return
    for (const row of rows) {
      if (!isRowOf(row, accountSuspended) || row.target === null) continue
      shutOf(node, row.target).catch((error: unknown) =>
        node.logger.warn({ error }, 'the stream of a suspended account was not ended'),
      )
    }
  })
  return () => {}
}

/** Longer than a provider shows the end of a stream. */
const shownMilliseconds = 120_000

async function shutOf(node: Node, account: string): Promise<void> {
  const isOpen = { status: { $in: ['idle' as const, 'live' as const] } }
  const isShown = { ended_at: { $gt: new Date(node.now() - shownMilliseconds) } }
  const streams = await Streams.find({ user_address: account, $or: [isOpen, isShown] }).lean<StoredStream[]>()
  for (const stream of streams) await takeDown(node, stream, 'shut')
}

const kinds = { 'ingest.started': 'started', 'ingest.interrupted': 'interrupted', 'ingest.stopped': 'stopped' } as const

/** What the provider says. */
export async function heard(node: Node, event: VideoEvent): Promise<void> {
  if (event.type === 'asset.updated') return keepAsset(node, event.asset)
  const stream = await Streams.findOne(
    { stream_id: event.streamId },
    { _id: 1, status: 1, reason: 1 },
  ).lean<StoredStream>()
  if (!stream) return
  if (stream.status === 'ended' && event.type === 'ingest.started')
    await node.services.video?.endStream(event.streamId, stream.reason !== 'ended_by_moderator')
  else await happen(node, stream._id, kinds[event.type])
}

/** Whether somebody may publish it: what has ended, or was deleted, is published no more. */
export async function isOpen(streamId: string): Promise<boolean> {
  const stream = await Streams.findOne({ stream_id: streamId }, { status: 1 }).lean<Pick<StoredStream, 'status'>>()
  return stream !== null && stream.status !== 'ended'
}

const sweptAtOnce = 500

/** Ends what is over, and finds out what the provider has told nobody: events are lost with the process that should hear them. */
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

/** As soon as the provider answers: what a backup, or a process that died, has left as live and nobody publishes any more. */
export async function endForgotten(node: Node): Promise<void> {
  if (!node.alone) return
  await retryOnStart(() => statusOf(node, []))
  await sweepStreams(node)
}

async function sweep(node: Node, open: readonly StoredStream[]): Promise<void> {
  const ids = open.map(({ stream_id }) => stream_id)
  const told = await statusOf(node, ids).catch(() => null)
  const seen: string[] = []
  const suspended = await suspendedAccountsAmong(open.map(({ user_address }) => user_address))
  for (const stream of open) {
    if (suspended.has(stream.user_address)) {
      await happen(node, stream._id, 'shut')
      continue
    }
    const state = told?.get(stream.stream_id)?.state
    if (state === 'live') seen.push(stream._id)
    const happening = state === 'live' ? 'started' : state && stream.is_published ? 'interrupted' : 'tick'
    await happen(node, stream._id, happening)
    if (happening === 'interrupted') await happen(node, stream._id, 'tick')
    else if (told && state === undefined) await miss(node, stream)
  }
  if (seen.length > 0) await Streams.updateMany({ _id: { $in: seen } }, { $set: { seen_at: new Date(node.now()) } })
}

const lostMilliseconds = 10_000

/**
 * Nobody can say how it is: the part of the provider that has it is away, and may come back within the grace. Where no other node has one,
 * it never will after that.
 */
async function miss(node: Node, { _id, status, seen_at }: StoredStream): Promise<void> {
  const unseen = node.now() - (seen_at?.getTime() ?? 0)
  if (status !== 'live' || unseen <= lostMilliseconds) return
  await happen(node, _id, 'interrupted')
  if (node.alone && unseen > lostMilliseconds + node.settings.streamGraceMilliseconds)
    await happen(node, _id, 'stopped')
}

/** Deletes what belongs to a stream that is gone. */
export const removal = job({
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
