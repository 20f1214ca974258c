import { createHash } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { Removals, type StoredSeat } from './model.ts'

const removedMilliseconds = 3_600_000
const guestPrefix = 'guest:'

/** A new identity for each guest token. */
export const guestIdentity = (id: string): string => guestPrefix + id

/** The hashed address of a person in a room. */
export const originHash = (room: string, ip: string): string =>
  createHash('sha256').update(`${room} ${ip}`).digest('base64url')

const idOf = (room: string, who: string) => `${room} ${who}`

/** Removes the person for an hour, with guests from the same address. */
export async function removePerson(node: Node, { room_id, identity, from = identity }: StoredSeat): Promise<void> {
  const until = new Date(node.now() + removedMilliseconds)
  for (const who of new Set([identity, from]))
    await Removals.updateOne({ _id: idOf(room_id, who) }, { $set: { until } }, { upsert: true })
}

export async function refuseRemoved(node: Node, room: string, identity: string, ip: string): Promise<void> {
  const known = identity.startsWith(guestPrefix) ? [identity, originHash(room, ip)] : [identity]
  const ids = known.map((who) => idOf(room, who))
  if (await Removals.exists({ _id: { $in: ids }, until: { $gt: new Date(node.now()) } }))
    throw new AppError('FORBIDDEN', { message: 'The host has removed you from this meeting' })
}
