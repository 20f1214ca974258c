import { z } from 'zod'
import { channelRef, RoomId } from '#shared/api/rooms/room-paths'
import { CallerAddress, type RoomRef, repeatable } from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'

export const megabyte = 1024 * 1024

/** A file of at most so many megabytes; what it is, its bytes say. */
export const Picture = (megabytes: number) =>
  z.file({ error: 'file is required' }).max(megabytes * megabyte, { error: `file: at most ${megabytes} MB` })
export const Icon = Picture(2)

/** Clients of the documented path send a form, or the image in base64 as JSON. Its bytes determine its type. */
const OfChannel = z
  .object({
    id: RoomId,
    userAddress: CallerAddress,
    file: Icon.optional(),
    image: z.base64({ error: 'image: not base64' }).optional(),
    ...repeatable,
  })
  .refine(({ file, image }) => file !== undefined || image !== undefined, { error: 'file is required' })
  .transform(({ id, userAddress: _, file, image = '', ...keyed }) => ({
    ...keyed,
    room: channelRef(id),
    file: file ?? fileOf(image),
  }))

const fileOf = (base64: string) => new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], 'icon')

const place = { id: RoomId, userAddress: CallerAddress }
const tokenRef = (id: string): RoomRef => ({ type: foundedBy('createTokenRoom'), id })
const OfTokenRoom = z
  .object({ ...place, file: Icon, ...repeatable })
  .transform(({ id, userAddress: _, ...given }) => ({ ...given, room: tokenRef(id) }))

export const iconAliases = [
  { http: 'POST /api/channels/:id/icon', input: OfChannel },
  { http: 'POST /api/token-chats/:id/icon', input: OfTokenRoom },
] as const
const removal = (ref: (id: string) => RoomRef) => z.object(place).transform(({ id }) => ({ room: ref(id) }))
export const removeIconAliases = [
  { http: 'DELETE /api/channels/:id/icon', input: removal(channelRef) },
  { http: 'DELETE /api/token-chats/:id/icon', input: removal(tokenRef) },
] as const
