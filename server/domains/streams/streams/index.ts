import { refuseWithoutBeta } from '#server/domains/agents/agents/beta'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { orderedPages } from '#server/kernel/store/pages'
import { every, startInBackground } from '#server/kernel/work/every'
import { rooms } from '#shared/api/rooms/rooms'
import { streams as contract } from '#shared/api/streams/streams'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { assetsOf, refreshAssets } from './assets.ts'
import { chat, say, streamRoomOf } from './chat.ts'
import { publishedFilter, readDirectory } from './directory.ts'
import {
  applyProviderEvent,
  applyStreamEvent,
  endForgottenStreams,
  endingOf,
  endStreamsOfSuspended,
  isStreamOpen,
  openStream,
  ownStream,
  stoppableStream,
  streamOf,
  streamRemoval,
  sweepStreams,
  takeDownStream,
  visibleStream,
} from './life.ts'
import { followChats, listen, unlisten } from './listening.ts'
import { OpenStreams, type StoredStream, Streams } from './model.ts'
import { copyRoomNames, followRoomNames } from './names.ts'
import { followStreams, notifyWatchers } from './notices.ts'
import { foundStreams, streamAssetOf, streamStateOf, streamsFor } from './render.ts'
import { isShownLive } from './states.ts'
import { sweepViewers } from './viewer-counts.ts'
import { leave, publicStream, unwatch, view, watch } from './watching.ts'

/** The owner's report is a hint. The stream counts as live for a while, and the provider is checked at once. */
const publishState: Action<typeof contract.publishState> = async ({ stream_id: id, state }, context) => {
  const { node } = context
  const stream = await ownStream(context, id)
  if (state !== 'stopping') await applyStreamEvent(node, id, 'go_live')
  const statuses = await node.services.video?.status([stream.stream_id]).catch(() => null)
  const seen = statuses?.get(stream.stream_id)?.state
  if (state === 'live' && seen === 'live') await applyStreamEvent(node, id, 'started')
  if (state === 'stopping' && seen === 'interrupted') await applyStreamEvent(node, id, 'interrupted')
  if (state === 'stopping' && seen === 'idle') await applyStreamEvent(node, id, 'stopped')
  const now = await streamOf(id)
  return { state: streamStateOf(now, isShownLive(now, node.now(), seen === undefined ? null : seen !== 'idle')) }
}

const sweepMilliseconds = 5_000
const isFirst = (node: Node) => node.alone || [...node.nodes.live()].sort()[0] === node.id

async function shownTo(context: Context, stream: StoredStream) {
  const [shown] = await streamsFor(context.node, [stream], signedIn(context).account)
  if (!shown) throw new AppError('STREAM_NOT_FOUND')
  return { stream: shown }
}

const newestFirst = orderedPages({ created_at: ['time', -1], _id: ['text', 1] })

export const streams = defineDomain(
  contract,
  {
    async create(input, context) {
      if (input.record) await refuseWithoutBeta(context.node, signedIn(context).account, 'Recording needs beta access')
      const { stream, existing } = await openStream(context, input)
      return { ...(await shownTo(context, stream)), ...(existing ? { existing: true as const } : {}) }
    },

    async list({ userAddress, status, live, limit, cursor }, context) {
      const { account } = signedIn(context)
      const list = `streams ${account} ${userAddress ?? ''} ${live ?? ''} ${status ?? ''}` as const
      const owner = userAddress === undefined ? {} : { user_address: userAddress }
      const those = live ? publishedFilter : {}
      const withStatus = status === undefined ? {} : { status }
      const found = await Streams.find({ ...owner, ...those, ...withStatus, ...newestFirst.after(list, cursor) })
        .sort(newestFirst.sort)
        .limit(limit + 1)
        .lean<StoredStream[]>()
      const { rows, next_cursor } = newestFirst.cut(list, found, limit)
      const shown = await streamsFor(context.node, await foundStreams(rows, account), account)
      return { streams: shown.filter(({ is_live }) => live === undefined || is_live === live), next_cursor }
    },

    get: async ({ id }, context) => shownTo(context, await visibleStream(context, id)),

    async change({ id, action, ...texts }, context) {
      const stream = await ownStream(context, id)
      const { node } = context
      const changed = (['title', 'description'] as const).filter((field) => texts[field] !== undefined)
      if (changed.length > 0) {
        const patch = withoutUndefined({ name: texts.title, description: texts.description })
        await node.callAs(stream.user_address, rooms.update, { room: streamRoomOf(id), ...patch })
        await copyRoomNames(node, id, changed)
      }
      if (action) await applyStreamEvent(node, id, action)
      return shownTo(context, await streamOf(id))
    },

    async end({ id }, context) {
      const stream = await stoppableStream(context, id)
      const how = endingOf(stream, context.caller.account)
      if (how === 'shut') await takeDownStream(context.node, stream, how)
      else await applyStreamEvent(context.node, id, how)
      return done
    },

    async remove({ id }, context) {
      const { account } = signedIn(context)
      const stream = await stoppableStream(context, id)
      const { stream_id, user_address: owner } = stream
      await takeDownStream(context.node, stream, endingOf(stream, account))
      await context.node.jobs.add(streamRemoval, { stream: id, provided: stream_id, by: account, owner })
      await Streams.deleteOne({ _id: id })
      await OpenStreams.deleteOne({ _id: owner, stream: id })
      await notifyWatchers(context.node, id)
      return done
    },

    async assets({ id, refresh }, context) {
      const { node } = context
      const stream = await visibleStream(context, id)
      if (refresh) await refreshAssets(node, stream)
      return { assets: (await assetsOf(id)).map(streamAssetOf) }
    },

    async refreshAssets({ id }, context) {
      await refreshAssets(context.node, await visibleStream(context, id))
      return { assets: (await assetsOf(id)).map(streamAssetOf) }
    },

    chat,
    say,
    publicStream,
    view,
    leave,

    async recordings({ id }, context) {
      await visibleStream(context, id)
      const playable = (await assetsOf(id)).filter(({ phase, playback_url }) => phase === 'ready' || playback_url)
      return { assets: playable.map(streamAssetOf) }
    },

    watch,
    unwatch,
    listen,
    unlisten,
    publishState,

    directory: ({ limit, cursor }, context) => readDirectory(context, limit, cursor),
  },
  {
    jobs: [streamRemoval],
    start(node) {
      const warn = (error: unknown) => node.logger.warn({ error }, 'what a provider said of a stream was not stored')
      followChats(node)
      node.nodes.onChange(() => void sweepViewers(node).catch(warn))
      node.services.video?.admit?.(isStreamOpen)
      return [
        followStreams(node),
        followRoomNames(node),
        endStreamsOfSuspended(node),
        node.services.video?.subscribe((event) => void applyProviderEvent(node, event).catch(warn)) ?? (() => {}),
        every(
          node,
          sweepMilliseconds,
          async () => {
            if (isFirst(node)) await sweepStreams(node)
            await sweepViewers(node, isFirst(node))
          },
          'streams could not be looked at',
        ),
        startInBackground(node, () => endForgottenStreams(node), 'streams were not looked at after the start'),
      ]
    },
  },
)
