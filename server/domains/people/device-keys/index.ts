import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { deviceKeys as contract, type KeptKeys } from '#shared/api/people/device-keys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { accountsVisibleTo, devicesOf, removeDevice, storeDevice } from './devices.ts'
import { MessagingKeys, type StoredDevice, type StoredKeys } from './model.ts'

type GivenKeys = { readonly [Field in keyof KeptKeys]?: KeptKeys[Field] | null | undefined }

const messagingKeysOf = async (account: string): Promise<KeptKeys> =>
  keysOutput(await MessagingKeys.findOne({ _id: account }).lean<StoredKeys>())

/** Stores the given fields; others stay. */
async function storeKeys(account: string, given: GivenKeys, now: number): Promise<KeptKeys> {
  const fields = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => [field, value || null] as const)
  const stored = await MessagingKeys.findOneAndUpdate(
    { _id: account },
    { $set: { ...Object.fromEntries(fields), updated_at: new Date(now) } },
    { upsert: true, returnDocument: 'after' },
  ).lean<StoredKeys>()
  return keysOutput(stored)
}

const keysOutput = (stored: StoredKeys | null): KeptKeys => ({
  messaging_public_key: stored?.messaging_public_key ?? null,
  messaging_private_key_encrypted: stored?.messaging_private_key_encrypted ?? null,
  messaging_backup_encrypted: stored?.messaging_backup_encrypted ?? null,
  messaging_backup_salt: stored?.messaging_backup_salt ?? null,
  messaging_backup_enabled: stored?.messaging_backup_enabled ?? false,
})

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
