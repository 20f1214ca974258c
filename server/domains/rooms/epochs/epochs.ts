import { devicesNamed } from '#server/domains/people/device-keys/devices'
import type { StoredDevice } from '#server/domains/people/device-keys/model'
import { hasBlock, keyOf, readableRoomOf, readRoom } from '#server/domains/rooms/room-state/access'
import { currentEpochIn, type EpochFact, epochIn } from '#server/domains/rooms/room-state/facts'
import { Epochs } from '#server/domains/rooms/room-state/model'
import { isSuspended } from '#server/domains/rooms/room-state/standing'
import type { Context, Node } from '#server/kernel/context'
import type { View } from '#server/log/types'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { peersOf } from '#shared/kit/room-key'

const pageSize = 50

/** Throws if this account may not write to the other one. */
export function refuseWriter(view: View, account: string, now: number): void {
  readableRoomOf(view, account, now)
  if (isSuspended(view, account)) throw new AppError('SUSPENDED')
  if (hasBlock(view)) throw new AppError('BLOCKED')
}

export const refuseOutsider = async (node: Node, room: RoomRef, account: string): Promise<void> =>
  node.log.ask(await keyOf(room), (view, now) => refuseWriter(view, account, now))

/** The devices of an envelope: the caller's own as its sender, and receivers of both people. */
export async function devicesAmong(
  { id }: RoomRef,
  account: string,
  from: string,
  to: readonly string[],
): Promise<StoredDevice> {
  const found = await devicesNamed([from, ...to], peersOf(id))
  const known = new Map(found.map((device) => [device._id, device]))
  const sealing = known.get(from)
  if (!sealing || !isSameAccount(sealing.account, account))
    throw new AppError('CONFLICT', { message: 'You have no such device', details: { unknown: [from] } })
  const unknown = to.filter((device) => !known.has(device))
  if (unknown.length > 0)
    throw new AppError('CONFLICT', { message: 'The two have no such device', details: { unknown } })
  return sealing
}

/** A page of epochs, with the envelopes of one device of the caller. */
export async function epochsOf(
  { node, caller }: Pick<Context, 'node' | 'caller'>,
  room: RoomRef,
  account: string,
  device: string,
  before?: number,
) {
  const { key, also: current } = await readRoom(node, caller, room, currentEpochIn)
  const [own] = await devicesNamed([device], [account])
  const stored = await Epochs.find(
    { room: key, is_active: true, ...(before === undefined ? {} : { seq: { $lt: before } }) },
    { epoch_id: 1 },
  )
    .sort({ seq: -1 })
    .limit(pageSize + 1)
    .lean()
  const isFirst = before === undefined && current !== null
  const ids = new Set([...(isFirst ? [current.epoch_id] : []), ...stored.map(({ epoch_id }) => epoch_id)])
  const facts = await node.log.ask(key, (view) => [...ids].map((id) => epochIn(view, id)))
  const found = facts.filter((fact) => fact !== null).sort((one, other) => other.seq - one.seq)
  return {
    epochs: found.slice(0, pageSize).map((epoch) => epochOutput(epoch, current, account, own ? device : null)),
    has_more: found.length > pageSize,
  }
}

type CurrentEpoch = ReturnType<typeof currentEpochIn>

const epochOutput = (
  { epoch_id, seq, at, lots }: EpochFact,
  current: CurrentEpoch,
  account: string,
  device: string | null,
) => ({
  epoch_id,
  seq,
  at: new Date(at).toISOString(),
  is_current: current?.epoch_id === epoch_id && !current.is_over,
  device_ids: devicesIn(lots),
  own_device_ids: devicesIn(lots.filter(({ by }) => isSameAccount(by.address, account))),
  envelopes: lots.flatMap(({ by, envelopes }) =>
    envelopes.filter((one) => one.device_id === device).map(({ enc, sealed }) => ({ enc, sealed, by })),
  ),
})

const devicesIn = (lots: EpochFact['lots']) => [
  ...new Set(lots.flatMap(({ envelopes }) => envelopes.map((one) => one.device_id))),
]
