import type { Action } from '#server/kernel/context'
import type { streams as contract } from '#shared/api/streams'
import { happen, ownStream, streamOf } from './life.ts'
import { stateOf } from './shown.ts'
import { isShownLive } from './states.ts'

/** What an owner says of the picture is a hint: it shows the stream as live for a while, and has the provider asked at once. */
export const publishState: Action<typeof contract.publishState> = async ({ stream_id: id, state }, context) => {
  const { node } = context
  const stream = await ownStream(context, id)
  if (state !== 'stopping') await happen(node, id, 'go_live')
  const told = await node.services.video?.status([stream.stream_id]).catch(() => null)
  const seen = told?.get(stream.stream_id)?.state
  if (state === 'live' && seen === 'live') await happen(node, id, 'started')
  if (state === 'stopping' && seen === 'interrupted') await happen(node, id, 'interrupted')
  if (state === 'stopping' && seen === 'idle') await happen(node, id, 'stopped')
  const now = await streamOf(id)
  return { state: stateOf(now, isShownLive(now, node.now(), seen === undefined ? null : seen !== 'idle')) }
}
