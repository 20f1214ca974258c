import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { deviceKeys as contract } from '#shared/api/people/device-keys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { accountsVisibleTo, devicesOf, removeDevice, storeDevice } from './devices.ts'
import { messagingKeysOf, storeKeys } from './messaging-keys.ts'
import type { StoredDevice } from './model.ts'

export const deviceKeys = defineDomain(contract, {
  async put({ device_id, ...described }, context) {
    const { account } = signedIn(context)
    return { device: deviceOutput(account)(await storeDevice(account, device_id, described, context.node.now())) }
  },

  async list({ addresses }, context) {
    const { account } = signedIn(context)
    return { devices: (await devicesOf(await accountsVisibleTo(account, addresses))).map(deviceOutput(account)) }
  },

  async remove({ device_id }, context) {
    if (await removeDevice(signedIn(context).account, device_id, context.node.now())) return done
    throw new AppError('NOT_FOUND', { message: 'You have no such device' })
  },

  kept: (_input, context) => messagingKeysOf(signedIn(context).account),

  keep: ({ userAddress: _, ...given }, context) => storeKeys(signedIn(context).account, given, context.node.now()),
})

const deviceOutput =
  (reader: string) =>
  ({ _id, account, public_key, certificate, name, created_at }: StoredDevice) => ({
    address: account,
    device_id: _id,
    public_key,
    certificate,
    name: isSameAccount(account, reader) ? name : null,
    created_at,
  })
