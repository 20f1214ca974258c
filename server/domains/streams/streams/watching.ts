import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Action, audiences, type Connection, type Context, type Node } from '#server/kernel/context'
import type { streams as contract } from '#shared/api/streams/streams'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { assetsOf } from './assets.ts'
import { streamRoomOf } from './chat.ts'
import { streamOf, visibleStream } from './life.ts'
import { emptyChat, leaveChat, watchChat } from './listening.ts'
import type { StoredStream } from './model.ts'
import { followStream } from './notices.ts'
import { publicStreamsOf, streamAssetOf, streamCountsOf, streamStateOf } from './render.ts'
import { countViewersNow, countViewersSoon } from './viewer-counts.ts'
import { holdViewer, releaseViewer, type Viewer, viewOverRest } from './viewers.ts'

async function publicStreamOf(node: Node, stream: StoredStream) {
  const [shown] = await publicStreamsOf(node, [stream])
  if (!shown) throw new AppError('STREAM_NOT_FOUND')
  return shown
}

export const publicStream: Action<typeof contract.publicStream> = async ({ id }, context) => {
  const { caller, browser, http, node } = context
  if (caller.account === null && browser === null) http?.setBrowserCookie(newBrowser(node))
  return { stream: await publicStreamOf(node, await visibleStream(context, id)) }
}

async function viewOnce(context: Context, id: string, isThere: boolean) {
  const { status, user_address } = await streamOf(id, { success: false })
  const isCounted = isThere && status !== 'ended' && !isSameAccount(user_address, context.caller.account)
  await viewOverRest(context.node, id, restViewer(context), isCounted)
  const row = await countViewersNow(context.node, id)
  return { success: true as const, viewer_count: (row ?? (await streamOf(id))).viewer_count }
}

export const view: Action<typeof contract.view> = ({ id, action }, context) => viewOnce(context, id, action === 'join')

export const leave: Action<typeof contract.leave> = ({ id }, context) => viewOnce(context, id, false)

export const watch: Action<typeof contract.watch> = async (
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

export const unwatch: Action<typeof contract.unwatch> = async ({ stream_id: id }, { node, connection }) => {
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
