import { checkGate } from '#server/domains/gates'
import { keyOf, visibleRoom } from '#server/domains/rooms/room-state/access'
import { gateFor } from '#server/domains/rooms/room-state/passes'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'

const recheck = { most: 1, seconds: 60 }

export const gate: Action<typeof contract.gate> = async ({ room }, context) => {
  const { shown, asked } = await gatesOf(room, context)
  return { gate: shown, answer: asked && (await checkGate({ ...asked, fresh: false })) }
}

export const recheckGate: Action<typeof contract.recheckGate> = async ({ room }, context) => {
  const { key, account, shown, asked } = await gatesOf(room, context)
  if (!asked) return { gate: shown, answer: null }
  const { limits } = context.node
  if (!(await limits.throttle('gate', `${account} ${key}`, recheck.most, recheck.seconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: recheck.seconds })
  return { gate: shown, answer: await checkGate({ ...asked, fresh: true }) }
}

/** The displayed gate of a room, and the caller's check. */
async function gatesOf(ref: RoomRef, context: Context) {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(ref)
  const room = await node.log.ask(key, (view, now) => visibleRoom(view, account, now).room)
  const asked = gateFor(room, account)
  return { key, account, shown: room.gate, asked: asked && { node, account, gate: asked } }
}
