import type { StoredDevice } from '#server/domains/people/device-keys/model'
import { keyOf } from '#server/domains/rooms/room-state/access'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/entries'
import { epochShared, epochStarted } from '#server/domains/rooms/room-state/events/epochs'
import { currentEpochIn, type EnvelopeBatch, epochIn } from '#server/domains/rooms/room-state/facts'
import { type Action, signedIn } from '#server/kernel/context'
import type { epochs as contract, Envelope } from '#shared/api/rooms/epochs'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { devicesAmong, refuseWriter } from './epochs.ts'

/** A limit for each of the two people, so that neither can use up the other's. */
const batchesAtMost = 25

/** Of several epochs after the same one, the one with the lowest seq is stored. The others are refused, with its id. */
export const start: Action<typeof contract.start> = async (input, context) => {
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

export const share: Action<typeof contract.share> = async ({ id, epoch_id, device_id, envelopes }, context) => {
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
