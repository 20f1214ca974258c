import { createHash } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { Removals } from './model.ts'

const removedMilliseconds = 3_600_000
const guestPrefix = 'guest:'

/** A guest has an identity for each token. */
export const guestOf = (id: string): string => guestPrefix + id

/** By what somebody is known who comes again: their account, or, of a guest, the address that they come from. */
export const knownAs = (room: string, identity: string, ip: string): string =>
  identity.startsWith(guestPrefix) ? createHash('sha256').update(`${room} ${ip}`).digest('base64url') : identity

const idOf = (room: string, known_as: string) => `${room} ${known_as}`

/** Lets nobody in again for an hour who is known as this. */
export async function keepOut(node: Node, room: string, known_as: string): Promise<void> {
  const until = new Date(node.now() + removedMilliseconds)
  await Removals.updateOne({ _id: idOf(room, known_as) }, { $set: { until } }, { upsert: true })
}

export async function refuseRemoved(node: Node, room: string, known_as: string): Promise<void> {
  if (await Removals.exists({ _id: idOf(room, known_as), until: { $gt: new Date(node.now()) } }))
    throw new AppError('FORBIDDEN', { message: 'The host has removed you from this meeting' })
}
