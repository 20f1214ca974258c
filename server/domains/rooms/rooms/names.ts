import { deceptionByRoom } from '#server/domains/people/accounts/names'
import { type RoomFact, roomIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { forgetCard } from '#server/domains/rooms/room-state/rows'
import { standingOf } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import type { RoomKey, View } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { skeleton } from '#shared/kit/looks'
import { isPartnerSlug } from './partner-channel.ts'

/** The unique form of a name: without case, width, accents and Latin look-alikes. */
export const uniqueFormOf = (name: string): string => skeleton(name).replaceAll('σ', 'o') || name.toLowerCase()

/** Refuses slugs of official rooms, and those that resemble the service's name: only admins give them. */
export function refuseSlug(node: Node, view: View, account: string, slug: string | null | undefined): void {
  if (!slug || slug === roomIn(view)?.slug || standingOf(view, account).isAdmin) return
  const readsAsOurs = deceptionByRoom(slug.replaceAll('-', ' ')) !== null
  if (readsAsOurs || ofAlpha.includes(slug) || isPartnerSlug(node, slug))
    throw new AppError('VALIDATION_ERROR', { message: 'This slug is not allowed', details: { path: 'slug' } })
}
/** The alpha room, and its names in paths. */
const ofAlpha = ['alpha', 'global']

type Names = { unique_name?: string; slug?: string }

/**
 * Runs an act that names a room. Names are reserved in the record first, so that two rooms cannot get the same. A
 * refused act releases them.
 */
export async function withReservedNames<T>(
  node: Node,
  key: RoomKey,
  { name, slug }: Partial<RoomFact>,
  act: () => Promise<T>,
): Promise<T> {
  if (!kindOf(key).hasUniqueName || (name === undefined && !slug)) return act()
  const names = { ...(name === undefined ? {} : { unique_name: uniqueFormOf(name) }), ...(slug ? { slug } : {}) }
  await Rooms.updateOne({ _id: key }, { $set: names }).catch(throwNameTaken)
  try {
    return await act()
  } catch (error) {
    if (isRefusal(error)) await releaseNames(node, key, names)
    throw error
  }
}

// An act without an answer may still be stored.
const isRefusal = (error: unknown): boolean => error instanceof AppError && error.code !== 'SERVICE_UNAVAILABLE'

/** Releases only this act's own names: another act may have taken its own since. */
async function releaseNames(node: Node, key: RoomKey, names: Names): Promise<void> {
  const room = await node.log.ask(key, roomIn)
  if (!room) return
  const own = { unique_name: uniqueFormOf(room.name), slug: room.slug }
  for (const field of ['unique_name', 'slug'] as const) {
    const held = names[field]
    if (held === undefined || held === own[field]) continue
    const change = own[field] === null ? { $unset: { [field]: '' } } : { $set: { [field]: own[field] } }
    await Rooms.updateOne({ _id: key, [field]: held }, change).catch(ignoreTaken)
  }
  forgetCard(node, key)
}

// Another room took the name while it was free.
function ignoreTaken(error: unknown): void {
  if (!isDuplicate(error)) throw error
}

export function throwNameTaken(error: unknown): never {
  if (!isDuplicate(error)) throw error
  const { keyPattern } = error as { keyPattern?: Record<string, unknown> }
  throw new AppError('VALIDATION_ERROR', {
    message: keyPattern && 'slug' in keyPattern ? 'A channel with this slug exists' : 'A channel with this name exists',
    cause: error,
  })
}
