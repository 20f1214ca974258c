import { devicesNamed } from '#server/domains/people/device-keys/devices'
import type { StoredDevice } from '#server/domains/people/device-keys/model'
import { hasBlock, keyOf, readableRoomOf, readRoom } from '#server/domains/rooms/room-state/access'
import { epochShared, epochStarted } from '#server/domains/rooms/room-state/events/epochs'
import { currentEpochIn, type EnvelopeBatch, type EpochFact, epochIn } from '#server/domains/rooms/room-state/facts'
import { Epochs } from '#server/domains/rooms/room-state/model'
import { actorOf, entryOf, isSuspended } from '#server/domains/rooms/room-state/standing'
import { type Action, audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { View } from '#server/log/types'
import { epochs as contract, type Envelope, keyRequested } from '#shared/api/rooms/epochs'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { peersOf } from '#shared/kit/room-key'

const pageSize = 50

/** Throws if this account may not write to the other one. */
function refuseWriter(view: View, account: string, now: number): void {
  readableRoomOf(view, account, now)
  if (isSuspended(view, account)) throw new AppError('SUSPENDED')
  if (hasBlock(view)) throw new AppError('BLOCKED')
}

const refuseOutsider = async (node: Node, room: RoomRef, account: string): Promise<void> =>
  node.log.ask(await keyOf(room), (view, now) => refuseWriter(view, account, now))

/** The devices of an envelope: the caller's own as its sender, and receivers of both people. */
async function devicesAmong(
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
async function epochsOf(
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

/** A limit for each of the two people, so that neither can use up the other's. */
const batchesAtMost = 25

/** Of several epochs after the same one, the one with the lowest seq is stored. The others are refused, with its id. */
const start: Action<typeof contract.start> = async (input, context) => {
  const { id, epoch_id, after, device_id, envelopes } = input
  const { account } = signedIn(context)
  const { key, by, actor } = await envelopeSender({ id, device_id, envelopes }, context)
  const { row, view } = await context.node.log.act(key, {
    sender: account,
    makes: epochStarted,
    judge(view, now) {
      const [current, known] = [currentEpochIn(view), epochIn(view, epoch_id)]
      refuseWriter(view, account, now)
      if (known?.lots[0]?.by.device_id === device_id) return { already: null }
      if (known || (current?.epoch_id ?? null) !== after)
        return {
          refuse: new AppError('CONFLICT', {
            message: otherEpochText,
            details: { epoch_id: current?.epoch_id ?? null },
          }),
        }
      return { accept: entryOf(view, actor, epochStarted, { epoch_id, by, envelopes }) }
    },
  })
  return { epoch_id, seq: row?.seq ?? view.seq }
}

const share: Action<typeof contract.share> = async ({ id, epoch_id, device_id, envelopes }, context) => {
  const { account } = signedIn(context)
  const { key, by, actor } = await envelopeSender({ id, device_id, envelopes }, context)
  const { row, view } = await context.node.log.act(key, {
    sender: account,
    makes: epochShared,
    judge(view, now) {
      const [epoch] = [epochIn(view, epoch_id), currentEpochIn(view)]
      refuseWriter(view, account, now)
      if (!epoch) return { refuse: new AppError('NOT_FOUND', { message: 'There is no such epoch here' }) }
      const isOf = ({ by, envelopes: given }: EnvelopeBatch) =>
        by.device_id === device_id && given.some(({ enc }) => enc === envelopes[0]?.enc)
      if (epoch.lots.some(isOf)) return { already: null }
      if (epoch.lots.filter((lot) => isSameAccount(lot.by.address, account)).length >= batchesAtMost)
        return { refuse: new AppError('CONFLICT', { message: 'This epoch was given to too many devices' }) }
      return { accept: entryOf(view, actor, epochShared, { epoch_id, by, envelopes }) }
    },
  })
  return { seq: row?.seq ?? view.seq }
}

const otherEpochText = 'Another epoch was begun'

/** The stored sender of a batch of envelopes. */
async function envelopeSender(
  { id, device_id, envelopes }: { id: string; device_id: string; envelopes: readonly Envelope[] },
  context: Parameters<typeof start>[1],
) {
  const { account } = signedIn(context)
  const room = { type: 'dm', id } as const
  const to = envelopes.map((one) => one.device_id)
  if (new Set(to).size < to.length) throw new AppError('VALIDATION_ERROR', { message: 'envelopes: two for one device' })
  const key = await keyOf(room)
  // Checked first, so that callers who may not write learn nothing about devices.
  await context.node.log.ask(key, (view, now) => refuseWriter(view, account, now))
  const device = await devicesAmong(room, account, device_id, to)
  return { key, by: sealedBy(device), actor: await actorOf(context.node, account) }
}

const sealedBy = ({ _id, account, public_key, certificate }: StoredDevice) => ({
  address: account,
  device_id: _id,
  public_key,
  certificate,
})

export const epochs = defineDomain(contract, {
  start,
  share,

  async list({ id, device_id, before_seq }, context) {
    const { account } = signedIn(context)
    const room = { type: 'dm', id } as const
    return epochsOf(context, room, account, device_id, before_seq)
  },

  async request({ id, device_id }, context) {
    const { account } = signedIn(context)
    const room = { type: 'dm', id } as const
    await refuseOutsider(context.node, room, account)
    await devicesAmong(room, account, device_id, [])
    for (const peer of peersOf(id))
      context.emit(keyRequested, audiences.account(peer), { room, address: account, device_id })
    return { requested: true as const }
  },
})
