import { type Action, audiences, type Context, type Node } from '#server/kernel/context'
import type { streams as contract } from '#shared/api/streams'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { assetsOf } from './assets.ts'
import { roomOf } from './chat.ts'
import { streamOf } from './life.ts'
import { leaveChat, unheard, watchChat } from './listening.ts'
import type { StoredStream } from './model.ts'
import { assetOf, countsOf, publicStreamsOf, stateOf } from './shown.ts'
import { follow } from './told.ts'
import { newBrowser, restViewer, socketViewer } from './viewer.ts'
import { hold, letGo, touch } from './viewers.ts'

async function publicly(node: Node, stream: StoredStream) {
  const [shown] = await publicStreamsOf(node, [stream])
  if (!shown) throw new AppError('STREAM_NOT_FOUND')
  return shown
}

export const publicStream: Action<typeof contract.publicStream> = async ({ id }, context) => {
  const { caller, browser, http, node } = context
  if (caller.account === null && browser === null) http?.setBrowserCookie(newBrowser(node))
  return { stream: await publicly(node, await streamOf(id)) }
}

async function counted(context: Context, id: string, isThere: boolean) {
  const { status, user_address } = await streamOf(id, { success: false })
  const isCounted = isThere && status !== 'ended' && !isSameAccount(user_address, context.caller.account)
  const row = await touch(context.node, id, restViewer(context), isCounted)
  return { success: true as const, viewer_count: (row ?? (await streamOf(id))).viewer_count }
}

export const view: Action<typeof contract.view> = ({ id, action }, context) => counted(context, id, action === 'join')

export const leave: Action<typeof contract.leave> = ({ id }, context) => counted(context, id, false)

export const watch: Action<typeof contract.watch> = async (
  { stream_id: id, viewer_key, chat_after_seq, chat: wantsChat },
  context,
) => {
  const { node, connection } = context
  const stream = await streamOf(id)
  if (!connection) throw new AppError('VALIDATION_ERROR', { message: 'Watch over a socket' })
  const { key, ...viewer } = socketViewer(context, connection, viewer_key)
  connection.join(audiences.stream(id))
  // Who looks at a stream of their own is no viewer of it.
  const isCounted = stream.status !== 'ended' && !isSameAccount(stream.user_address, context.caller.account)
  const row = (isCounted && (await hold(node, id, viewer, connection))) || stream
  const shown = await publicly(node, row)
  const assets = await assetsOf(id)
  follow(node, row, assets)
  const heard = wantsChat ? await watchChat(context, connection, id, chat_after_seq) : unheard
  return {
    stream: shown,
    state: stateOf(row, shown.is_live),
    counts: countsOf(row),
    viewer_key: key,
    assets: assets.map(assetOf),
    room: roomOf(id),
    ...heard,
  }
}

export const unwatch: Action<typeof contract.unwatch> = async ({ stream_id: id }, { node, connection }) => {
  await streamOf(id)
  connection?.leave(audiences.stream(id))
  if (connection) leaveChat(connection, id)
  const row = connection ? await letGo(node, id, connection) : null
  return { counts: countsOf(row ?? (await streamOf(id))) }
}
