import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { refuseWithoutBeta } from '#server/domains/agents/agents/owned'
import { isRowOf } from '#server/domains/rooms/events/define'
import { roomUpdated } from '#server/domains/rooms/room-state/events/rooms'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import { type Action, audiences, type Connection, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { orderedPages } from '#server/kernel/store/pages'
import { every, startInBackground } from '#server/kernel/work/every'
import { rooms } from '#shared/api/rooms/rooms'
import { streams as contract } from '#shared/api/streams/streams'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { publishedFilter, readDirectory } from './directory.ts'
import {
  applyProviderEvent,
  applyStreamEvent,
  assetsOf,
  endEventOf,
  endForgottenStreams,
  endStreamsOfSuspended,
  isStreamOpen,
  openStream,
  ownStream,
  refreshAssets,
  stoppableStream,
  streamOf,
  streamRemoval,
  sweepStreams,
  takeDownStream,
  visibleStream,
} from './life.ts'
import { chat, emptyChat, followChats, leaveChat, listen, say, streamRoomOf, unlisten, watchChat } from './listening.ts'
import { OpenStreams, type StoredStream, Streams } from './model.ts'
import { followStream, followStreams, notifyWatchers } from './notices.ts'
import { foundStreams, publicStreamsOf, streamAssetOf, streamCountsOf, streamStateOf, streamsFor } from './render.ts'
import { isShownLive } from './states.ts'
import {
  countViewersNow,
  countViewersSoon,
  holdViewer,
  releaseViewer,
  sweepViewers,
  type Viewer,
  viewOverRest,
} from './viewers.ts'

/** The fields of a stream that follow its room, with the name of each in the room. */
const roomFieldOf = { title: 'name', description: 'description' } as const
type NamedField = keyof typeof roomFieldOf

const attempts = 5

/** Copies these fields from the room to the stream, and notifies watchers. Throws CONFLICT after too many races. */
async function copyRoomNames(node: Node, id: string, fields: readonly NamedField[]): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    const room = await node.log.ask(roomKey(streamRoomOf(id)), roomIn)
    if (!stream || !room) return
    const copied = Object.fromEntries(fields.map((field) => [field, room[roomFieldOf[field]] ?? null]))
    if (fields.every((field) => stream[field] === copied[field])) return
    const { matchedCount } = await Streams.updateOne({ _id: id, v: stream.v }, { $set: copied, $inc: { v: 1 } })
    if (matchedCount === 1) return notifyWatchers(node, id)
  }
  throw new AppError('CONFLICT')
}

/** Copies changes of the room to its stream. The node that appended the row does it. */
function followRoomNames(node: Node): () => void {
  node.log.onRows((key, rows, isOurs) => {
    const id = roomOfKey(key).id ?? ''
    if (!isOurs || key !== roomKey(streamRoomOf(id))) return
    const changed = rows
      .filter((row) => isRowOf(row, roomUpdated))
      .flatMap(({ body }) => Object.keys(Object(body.patch)))
    const fields = (Object.keys(roomFieldOf) as NamedField[]).filter((field) => changed.includes(roomFieldOf[field]))
    if (fields.length === 0) return
    copyRoomNames(node, id, fields).catch((error: unknown) =>
      node.logger.warn({ error, stream: id }, 'a stream was not named as its room'),
    )
  })
  return () => {}
}

async function publicStreamOf(node: Node, stream: StoredStream) {
  const [shown] = await publicStreamsOf(node, [stream])
  if (!shown) throw new AppError('STREAM_NOT_FOUND')
  return shown
}

const publicStream: Action<typeof contract.publicStream> = async ({ id }, context) => {
  const { caller, browser, http, node } = context
  if (caller.account === null && browser === null) http?.setBrowserCookie(newBrowser(node))
  return { stream: await publicStreamOf(node, await visibleStream(context, id)) }
}

async function countOverRest(context: Context, id: string, isThere: boolean) {
  const { status, user_address } = await streamOf(id, { success: false })
  const isCounted = isThere && status !== 'ended' && !isSameAccount(user_address, context.caller.account)
  await viewOverRest(context.node, id, restViewer(context), isCounted)
  const row = await countViewersNow(context.node, id)
  return { success: true as const, viewer_count: (row ?? (await streamOf(id))).viewer_count }
}

const view: Action<typeof contract.view> = ({ id, action }, context) => countOverRest(context, id, action === 'join')

const leave: Action<typeof contract.leave> = ({ id }, context) => countOverRest(context, id, false)

const watch: Action<typeof contract.watch> = async (
  { stream_id: id, viewer_key, chat_after_seq, chat: wantsChat },
  context,
) => {
  const { node, connection } = context
  const stream = await visibleStream(context, id)
  if (!connection) throw new AppError('VALIDATION_ERROR', { message: 'Watch over a socket' })
  const { key, ...viewer } = socketViewer(context, connection, viewer_key)
  connection.join(audiences.stream(id))
  // The owner does not count as a viewer.
  const isCounted = stream.status !== 'ended' && !isSameAccount(stream.user_address, context.caller.account)
  if (isCounted) await holdViewer(node, id, viewer, connection, () => countViewersSoon(node, id))
  const row = (isCounted && (await countViewersNow(node, id))) || stream
  const shown = await publicStreamOf(node, row)
  const assets = await assetsOf(id)
  followStream(node, row, assets)
  const joined = wantsChat ? await watchChat(context, connection, id, chat_after_seq) : emptyChat
  return {
    stream: shown,
    state: streamStateOf(row, shown.is_live),
    counts: streamCountsOf(row),
    viewer_key: key,
    assets: assets.map(streamAssetOf),
    room: streamRoomOf(id),
    ...joined,
  }
}

const unwatch: Action<typeof contract.unwatch> = async ({ stream_id: id }, { node, connection }) => {
  await streamOf(id)
  connection?.leave(audiences.stream(id))
  if (connection) leaveChat(connection, id)
  const row = connection && (await releaseViewer(node, id, connection)) ? await countViewersNow(node, id) : null
  return { counts: streamCountsOf(row ?? (await streamOf(id))) }
}

/** The lengths of an id in base64 and of its signature; a browser's cookie has 43 characters. */
const [idLength, markLength] = [22, 21]

/** The key of a viewer: the account, our cookie, or the address and user agent. */
function restViewer({ caller, browser, node }: Context): Viewer {
  if (caller.account !== null) return accountViewer(caller.account)
  const day = new Date(node.now()).toISOString().slice(0, 10)
  const origin = `h:${digestOf(node, `${day} ${caller.ip} ${caller.userAgent}`)}`
  return guestViewer(node, knownBrowser(node, browser) ?? origin, caller.ip)
}

/** A guest is known by our cookie, else by the key that they repeat, else by the connection. */
function socketViewer(
  { caller, browser, node }: Context,
  connection: Connection,
  given: string | undefined,
): Viewer & { key: string | null } {
  if (caller.account !== null) return { ...accountViewer(caller.account), key: null }
  const memory = 'viewer key'
  const key =
    [given, connection.memory.get(memory)].find((one): one is string => isKey(node, one)) ?? keyOf(node, newId())
  connection.memory.set(memory, key)
  const viewer = knownBrowser(node, browser) ?? `g:${key.slice(0, idLength)}`
  return { ...guestViewer(node, viewer, caller.ip), key }
}

const accountViewer = (account: string): Viewer => ({ viewer: `a:${account}`, address: null })
const guestViewer = (node: Node, viewer: string, ip: string): Viewer => ({
  viewer,
  address: `h:${digestOf(node, ip)}`,
})

function knownBrowser(node: Node, browser: string | null): string | null {
  const [id, mark] = [browser?.slice(0, idLength) ?? '', browser?.slice(idLength) ?? '']
  return isEqual(mark, digestOf(node, `browser ${id}`, markLength)) ? `b:${id}` : null
}

/** A new cookie that identifies a browser. */
function newBrowser(node: Node): string {
  const id = newId()
  return `${id}${digestOf(node, `browser ${id}`, markLength)}`
}

const keyOf = (node: Node, id: string) => `${id}.${digestOf(node, `viewer ${id}`)}`
const isKey = (node: Node, given: unknown) =>
  typeof given === 'string' && isEqual(given, keyOf(node, given.slice(0, idLength)))

const newId = () => randomBytes(16).toString('base64url')

const digestOf = ({ settings }: Node, text: string, length = idLength): string =>
  createHmac('sha256', settings.sessionKeys[0]?.secret ?? '')
    .update(`stream viewers ${text}`)
    .digest('base64url')
    .slice(0, length)

const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

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
      const how = endEventOf(stream, context.caller.account)
      if (how === 'shut') await takeDownStream(context.node, stream, how)
      else await applyStreamEvent(context.node, id, how)
      return done
    },

    async remove({ id }, context) {
      const { account } = signedIn(context)
      const stream = await stoppableStream(context, id)
      const { stream_id, user_address: owner } = stream
      await takeDownStream(context.node, stream, endEventOf(stream, account))
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
