import { audiences, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { epochs as contract, keyRequested } from '#shared/api/rooms/epochs'
import { peersOf } from '#shared/kit/room-key'
import { share, start } from './envelope-batches.ts'
import { devicesAmong, epochsOf, refuseOutsider } from './epochs.ts'

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
