import { ECDH } from 'node:crypto'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import { devicesAtMost } from '#shared/api/people/device-keys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { DeviceKeys, type StoredDevice } from './model.ts'

type DeviceDescription = Pick<StoredDevice, 'public_key' | 'certificate' | 'name'>

const notRemoved = { removed_at: null }

/**
 * Stores a device's description. Another key for a known device, and another account's device, are refused. So is a
 * removed device, even with its own key: earlier epochs were sealed to it, and must end.
 */
export async function storeDevice(
  account: string,
  id: string,
  described: DeviceDescription,
  now: number,
): Promise<StoredDevice> {
  refuseNoPoint(described.public_key)
  const known = await DeviceKeys.findOneAndUpdate(
    { _id: id, account, public_key: described.public_key, ...notRemoved },
    { $set: { name: described.name, certificate: described.certificate } },
    { returnDocument: 'after' },
  ).lean<StoredDevice>()
  if (known) return known
  const [held, first] = await Promise.all([DeviceKeys.exists({ _id: id }), firstOf(account)])
  if (held) throw takenError()
  if (first.length >= devicesAtMost) throw tooManyError()
  const made = {
    _id: id,
    account,
    ...described,
    order: newId(),
    created_at: new Date(now).toISOString(),
    ...notRemoved,
  }
  try {
    await DeviceKeys.create(made)
  } catch (error) {
    if (isDuplicate(error)) throw takenError()
    throw error
  }
  // Counts again after the insert, so that simultaneous inserts respect the limit.
  if ((await firstOf(account)).some(({ _id }) => _id === id)) return made
  await removeDevice(account, id, now)
  throw tooManyError()
}

const takenError = () =>
  new AppError('CONFLICT', {
    message: 'This id belongs to another key, or to a device that was removed. Make a new id and a new key.',
  })
const tooManyError = () =>
  new AppError('CONFLICT', { message: `An account has at most ${devicesAtMost} devices. Remove one first.` })

const firstOf = (account: string) =>
  DeviceKeys.find({ account, ...notRemoved }, { _id: 1 })
    .sort({ order: 1 })
    .limit(devicesAtMost)
    .lean()

function refuseNoPoint(key: string): void {
  try {
    ECDH.convertKey(key, 'prime256v1', 'base64url')
  } catch {
    throw new AppError('VALIDATION_ERROR', { message: 'public_key: not a point of P-256' })
  }
}

export const devicesOf = (accounts: readonly string[]): Promise<StoredDevice[]> =>
  DeviceKeys.find({ account: { $in: accounts }, ...notRemoved })
    .sort({ account: 1, order: 1 })
    .lean<StoredDevice[]>()

/** The existing devices among these, of these accounts. */
export const devicesNamed = (ids: readonly string[], accounts: readonly string[]): Promise<StoredDevice[]> =>
  DeviceKeys.find({ _id: { $in: ids }, account: { $in: accounts }, ...notRemoved }).lean<StoredDevice[]>()

/** False if the account has no such device. */
export const removeDevice = async (account: string, id: string, now: number): Promise<boolean> => {
  const trace = { removed_at: new Date(now).toISOString(), name: '', certificate: null }
  return (await DeviceKeys.updateOne({ _id: id, account, ...notRemoved }, { $set: trace })).matchedCount === 1
}

/** The accounts whose devices this one may see: itself, friends, and partners of conversations. */
export async function accountsVisibleTo(account: string, addresses: readonly string[]): Promise<string[]> {
  const others = addresses.filter((address) => !isSameAccount(address, account))
  const keys = new Map(others.map((other) => [roomKey(dmOf(account, other)), other]))
  const [opened, friends, blocked] = await Promise.all([
    Rooms.find({ _id: { $in: [...keys.keys()] } }, { _id: 1 }).lean(),
    friendsAmong(account, others),
    blockedAmong(account, others),
  ])
  const known = new Set([account, ...friends, ...opened.map(({ _id }) => keys.get(_id))])
  return addresses.filter((address) => known.has(address) && !blocked.has(address))
}
