import { z } from 'zod'
import { channelRef, RoomId } from '#shared/api/rooms/room-paths'
import { operation } from '#shared/kit/contract'
import { CallerAddress, Done, Id, Link, onceByKey, RoomRef, repeatable, Time } from '#shared/kit/primitives'
import { foundedBy, roomTypes } from '#shared/kit/room-kinds'

const megabyte = 1024 * 1024

/** A file of at most so many megabytes; what it is, its bytes say. */
const Picture = (megabytes: number) =>
  z.file({ error: 'file is required' }).max(megabytes * megabyte, { error: `file: at most ${megabytes} MB` })
const Icon = Picture(2)

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

const iconAliases = [
  { http: 'POST /api/channels/:id/icon', input: OfChannel },
  { http: 'POST /api/token-chats/:id/icon', input: OfTokenRoom },
] as const
const removal = (ref: (id: string) => RoomRef) => z.object(place).transform(({ id }) => ({ room: ref(id) }))
const removeIconAliases = [
  { http: 'DELETE /api/channels/:id/icon', input: removal(channelRef) },
  { http: 'DELETE /api/token-chats/:id/icon', input: removal(tokenRef) },
] as const

/** The kinds of images that the page shows. */
export const imageMimeTypes = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/heic',
] as const
/** Where a picture is to be shown: in a type of room, or anywhere. */
export const uploadContexts = [...roomTypes, 'chat'] as const
export type UploadContext = (typeof uploadContexts)[number]
/** The allowed types of a sealed picture. SVG and non-pictures are refused, as clients would run them as pages. */
export const sealedImageType = /^image\/(?!svg)[a-z\d][a-z\d.+-]{0,62}$/i
/** Whole seconds, in digits. */
export const voiceSeconds = /^[0-9]{1,9}$/

export const pixelArtMegabytes = 5
/** The largest size that a server can be configured to take. */
export const mostFileMegabytes = 100

const mostBytes = 10 * megabyte
/** An initialization vector of 12 bytes, and a tag of 16 behind what is encrypted. */
const leastBytes = 28

const UploadedFile = z
  .file({ error: 'file is required' })
  .min(leastBytes, { error: 'file: not an encrypted file' })
  .max(mostBytes, { error: 'file: at most 10 MB' })
const conversationId = z.string({ error: 'conversationId is required' }).min(1).max(512)
const Duration = z.string().regex(voiceSeconds, { error: 'duration: whole seconds' }).default('0').transform(Number)

const hex64 = (name: string) =>
  z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: `${name}: 64 hexadecimal digits` })
    .transform((hex) => hex.toLowerCase())
/** SHA-256 of a salt of 32 bytes and of what was encrypted, one after the other. */
const Commitment = hex64('commitment')
const FileUrl = z.string({ error: 'url is required' }).max(1_000).meta({ format: 'uri' })

const stored = { url: Link, path: z.string() }
const iconed = ['ROOM_NOT_FOUND', 'BANNED', 'MUTED', 'ROOM_ARCHIVED'] as const
const uploading = {
  access: 'user',
  limit: 'general',
  cost: 'cheap',
  errorBody: 'text',
  idempotency: onceByKey,
  errors: ['UPSTREAM_ERROR', 'TIMEOUT'],
} as const

/**
 * Uploads for messages. Images and voice that clients have encrypted are unreadable for the server (document 3, "Media upload").
 * Unsealed files are open to everybody with their address.
 */
export const uploads = {
  picture: operation({
    ...uploading,
    summary:
      'Stores a picture (JPEG, PNG, GIF or WebP) or a voice message (Opus in WebM or Ogg; AAC or Opus in MP4) for a message of the caller, without what is written about it (place, camera, program).',
    http: 'POST /api/upload',
    input: z.object({
      file: Picture(5),
      context: z.enum(uploadContexts, { error: 'context: a type of room, or chat' }).default('chat'),
      userAddress: CallerAddress,
      ...repeatable,
    }),
    output: z.object(stored),
  }),
  pixelArt: operation({
    ...uploading,
    summary:
      'Stores pixel art, a PNG as data URL, under the hash of its bytes, and pins it in IPFS where that is configured.',
    http: 'POST /api/pixel-art/upload',
    jsonBytes: pixelArtMegabytes * 1.5 * megabyte,
    input: z.object({
      imageData: z.string({ error: 'imageData: not a PNG data URL' }),
      senderAddress: CallerAddress,
      ...repeatable,
    }),
    output: z.object({
      success: z.literal(true),
      /** The CID of the bytes as one block, or the one of the pinning service. */
      ipfsHash: z.string(),
      /** Here, so that a message may name it. */
      ipfsUrl: Link,
      path: z.string(),
      /** At gateways of IPFS; none where it was not pinned. */
      alternativeUrls: z.array(Link),
    }),
  }),
  bugReport: operation({
    ...uploading,
    summary: 'Stores an image (10 MB) or a film (MP4, WebM or QuickTime, 50 MB) that shows a fault.',
    http: 'POST /api/bug-reports/upload',
    input: z.object({ file: Picture(50), userAddress: CallerAddress, ...repeatable }),
    output: z.object({ ...stored, type: z.enum(['image', 'video']) }),
  }),
  evidence: operation({
    ...uploading,
    summary:
      'Hands in a picture or voice message of at most 10 MB, as the caller has opened it, for a report of the message that names it. Without `salt` nothing is shown of it.',
    http: 'POST /api/users/report/evidence',
    input: z.object({
      file: Picture(10),
      messageId: Id,
      /** Of the sealed file. */
      url: FileUrl,
      /** Of the commitment; what does not match it is refused. */
      salt: hex64('salt').optional(),
      ...repeatable,
    }),
    output: z.object({
      /** What the report names it by, within a day. */
      evidence: z.string(),
      /** Has the sender of the message committed to it, in this room? */
      is_as_sent: z.boolean(),
    }),
    errors: [...uploading.errors, 'NOT_FOUND'],
  }),
  avatar: operation({
    ...uploading,
    summary: 'Gives the caller a picture of at most 2 MB, which is shown from now on.',
    http: 'POST /api/user/avatar',
    input: z.object({ file: Picture(2), userAddress: CallerAddress, ...repeatable }),
    output: Done.extend({ avatar_url: Link }),
  }),
  agentAvatar: operation({
    ...uploading,
    summary: 'Gives an agent of the caller a picture of at most 2 MB.',
    http: 'POST /api/agents/:id/avatar',
    input: z.object({ id: Id, file: Picture(2), userAddress: CallerAddress, ...repeatable }),
    output: Done.extend({ avatar_url: Link }),
    errors: [...uploading.errors, 'AGENT_NOT_FOUND', 'AGENT_PRIVATE'],
  }),
  icon: operation({
    ...uploading,
    summary: 'Gives a room an icon of at most 2 MB. Its owner and its moderators may.',
    http: 'POST /api/rooms/{room}/icon',
    aliases: iconAliases,
    jsonBytes: 3 * megabyte,
    input: z.object({ room: RoomRef, file: Icon, ...repeatable }),
    output: Done.extend({ icon_url: Link }),
    errors: [...uploading.errors, ...iconed],
    audit: true,
  }),
  removeIcon: operation({
    summary: 'Takes the icon of a room away. Its owner and its moderators may.',
    http: 'DELETE /api/rooms/{room}/icon',
    aliases: removeIconAliases,
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ room: RoomRef }),
    output: Done,
    errors: iconed,
    audit: true,
  }),
  image: operation({
    ...uploading,
    summary:
      'Stores an image, as the client has sealed it, for a message of the caller. A picture that is not sealed is stored as by `POST /api/upload`, and asks for no `conversationId`.',
    http: 'POST /api/upload/image',
    input: z.object({
      file: UploadedFile,
      conversationId: conversationId.optional(),
      userAddress: CallerAddress,
      originalType: z.string().regex(sealedImageType, { error: 'originalType: not an image' }).default('image/jpeg'),
      commitment: Commitment.optional(),
      ...repeatable,
    }),
    output: z.object({ ...stored, originalType: z.string() }),
  }),
  voice: operation({
    ...uploading,
    summary: 'Stores a voice message, as the client has sealed it, for a message of the caller.',
    http: 'POST /api/upload/voice',
    input: z.object({
      file: UploadedFile,
      conversationId,
      userAddress: CallerAddress,
      duration: Duration,
      commitment: Commitment.optional(),
      ...repeatable,
    }),
    output: z.object({ ...stored, duration: z.number().int() }),
  }),
  file: operation({
    ...uploading,
    summary:
      'Stores a file of any type for a message of the caller, as it is. Its bytes determine its type. With `conversationId` the client has sealed it. Programs are refused.',
    http: 'POST /api/upload/file',
    input: z.object({
      file: Picture(mostFileMegabytes).min(1, { error: 'file: empty' }),
      name: z.string({ error: 'name is required' }).min(1).max(512),
      conversationId: conversationId.optional(),
      userAddress: CallerAddress,
      commitment: Commitment.optional(),
      ...repeatable,
    }),
    /** An attachment of a message has the same fields. */
    output: z.object({ ...stored, name: z.string(), size: z.number().int(), mime: z.string() }),
  }),
  commitment: operation({
    summary:
      'To what the sender of a sealed file has committed: who is shown the media and their salt can tell whether they were sent.',
    http: 'GET /api/upload/commitment',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ url: FileUrl }),
    output: z.object({
      /** Null where the sender gave none: nothing can be shown of this file. */
      commitment: z.string().nullable(),
      sender: z.string(),
      created_at: Time,
    }),
    errors: ['NOT_FOUND'],
  }),
}
