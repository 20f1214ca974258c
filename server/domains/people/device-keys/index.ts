import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { deviceKeys as contract } from '#shared/api/device-keys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { devicesOf, keepDevice, knownTo, removeDevice } from './devices.ts'
import { keepKeys, keptKeys } from './messaging-keys.ts'
import type { StoredDevice } from './model.ts'

export const deviceKeys = defineDomain(contract, {
  async put({ device_id, ...told }, context) {
    const { account } = signedIn(context)
    return { device: shown(account)(await keepDevice(account, device_id, told, context.node.now())) }
  },

  async list({ addresses }, context) {
    const { account } = signedIn(context)
    return { devices: (await devicesOf(await knownTo(account, addresses))).map(shown(account)) }
  },

  async remove({ device_id }, context) {
    if (await removeDevice(signedIn(context).account, device_id, context.node.now())) return done
    throw new AppError('NOT_FOUND', { message: 'You have no such device' })
  },

  kept: (_input, context) => keptKeys(signedIn(context).account),

  keep: ({ userAddress: _, ...given }, context) => keepKeys(signedIn(context).account, given, context.node.now()),
})

const shown =
  (reader: string) =>
  ({ _id, account, public_key, certificate, name, created_at }: StoredDevice) => ({
    address: account,
    device_id: _id,
    public_key,
    certificate,
    name: isSameAccount(account, reader) ? name : null,
    created_at,
  })
