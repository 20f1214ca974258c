import { z } from 'zod'
import { MessageType } from '#shared/api/moderation/verdict'
import { KeyId } from '#shared/api/people/device-keys'
import { Content, draft } from '#shared/api/rooms/message'
import { clearTypes } from '#shared/kit/clear-types'
import { Id, isVisible } from '#shared/kit/primitives'
import { epochAt, layouts, tagBytes } from '#shared/kit/sealed-layout'
import type { Draft } from '../types.ts'
import {
  bytesOf,
  fromBase64,
  fromBase64Url,
  joined,
  lines,
  randomBytes,
  textOf,
  toBase64,
  toBase64Url,
} from './bytes.ts'

/** What a sealed message says. The server cannot judge it, so that who opens it does, as the server judges any other. */
export const Inner = z
  .object({
    type: MessageType.exclude([...clearTypes, 'poll']),
    text: Content.refine(isVisible),
    reply_to: Id.optional(),
    attachments: draft.attachments,
    mentions: draft.mentions,
    /** The epoch whose key its media are sealed by, where that is another. */
    media_epoch: KeyId.optional(),
    /** By which the sender has committed to its media. */
    media_salt: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
    client_msg_id: z.string(),
  })
  .refine(({ text, mentions = [] }) => mentions.every(({ start, len }) => start + len <= text.length))
export type Inner = z.infer<typeof Inner>

/** What is sealed of a draft. */
export const innerFrom = (draft: Draft, client_msg_id: string): Inner => {
  const { type, text, reply_to, attachments, mentions, mediaSalt } = draft
  return {
    type: (type ?? 'text') as Inner['type'],
    text,
    ...(reply_to ? { reply_to } : {}),
    ...(attachments?.length ? { attachments } : {}),
    ...(mentions?.length ? { mentions: mentions as Inner['mentions'] & object } : {}),
    ...(mediaSalt ? { media_salt: mediaSalt } : {}),
    client_msg_id,
  }
}

/** The salt of the commitment to its media. */
export const saltOf = ({ media_salt }: Inner) => (media_salt ? { mediaSalt: media_salt } : {})

/** It was opened, and what is in it is no message. */
export class NoMessage extends Error {
  constructor() {
    super('This is no message.')
  }
}

function innerOf(json: string, client_msg_id: string): Inner {
  try {
    const inner = Inner.parse(JSON.parse(json))
    if (inner.client_msg_id === client_msg_id) return inner
  } catch {}
  throw new NoMessage()
}

/** Where a message stands; another place, sender or id does not open it. */
export interface Place {
  /** The id of the conversation: of a dm, or of a room with a shared key. */
  dm: string
  sender: string
  client_msg_id: string
}

const aad = ({ dm, sender, client_msg_id }: Place) => lines(dm, sender, client_msg_id)
const aes = (key: Uint8Array, use: 'encrypt' | 'decrypt') =>
  crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, [use])

const vectorBytes = layouts.epoch.cipherAt - layouts.epoch.vectorAt

/** A message, as base64: of version 1 under an epoch, of version 2 under the shared key of its room. The vector is random; it is given by tests alone. */
export async function sealMessage(
  key: Uint8Array,
  epoch: string | null,
  place: Place,
  inner: Inner,
  iv = randomBytes(vectorBytes),
): Promise<string> {
  const how = { name: 'AES-GCM', iv, additionalData: aad(place) }
  const sealed = await crypto.subtle.encrypt(how, await aes(key, 'encrypt'), bytesOf(JSON.stringify(inner)))
  const { version } = layouts[epoch === null ? 'shared-key' : 'epoch']
  return toBase64(joined(Uint8Array.of(version), fromBase64Url(epoch ?? ''), iv, new Uint8Array(sealed)))
}

/** The epoch that a text names; null where it is not of version 1. */
export function epochIn(text: string): string | null {
  try {
    const bytes = fromBase64(text)
    const { version, vectorAt, cipherAt } = layouts.epoch
    if (bytes[0] !== version || bytes.length < cipherAt + tagBytes) return null
    return toBase64Url(bytes.subarray(epochAt, vectorAt))
  } catch {
    return null
  }
}

/** Rejects where the key is another, the place is, or a bit was changed, and by `NoMessage` where it says something else than a message. */
export async function openMessage(
  key: Uint8Array,
  place: Place,
  text: string,
  { vectorAt, cipherAt }: (typeof layouts)[keyof typeof layouts] = layouts.epoch,
): Promise<Inner> {
  const bytes = fromBase64(text)
  const how = { name: 'AES-GCM', iv: bytes.slice(vectorAt, cipherAt), additionalData: aad(place) }
  const opened = await crypto.subtle.decrypt(how, await aes(key, 'decrypt'), bytes.slice(cipherAt))
  return innerOf(textOf(opened), place.client_msg_id)
}

const former = new Map<string, Promise<CryptoKey>>()

/** A message of older clients, whose key follows from the ids of the two accounts: anybody who knows them can read it. */
export async function openFormerText(dm: string, text: string): Promise<string> {
  const key = former.get(dm) ?? formerKey(dm)
  former.set(dm, key)
  const bytes = fromBase64(text)
  const how = { name: 'AES-GCM', iv: bytes.slice(0, vectorBytes) }
  return textOf(await crypto.subtle.decrypt(how, await key, bytes.slice(vectorBytes)))
}

async function formerKey(dm: string): Promise<CryptoKey> {
  const secret = await crypto.subtle.importKey('raw', bytesOf(dm), 'HKDF', false, ['deriveKey'])
  const how = { name: 'HKDF', hash: 'SHA-256', salt: bytesOf('plaza direct'), info: bytesOf('v1') }
  return crypto.subtle.deriveKey(how, secret, { name: 'AES-GCM', length: 256 }, false, ['decrypt'])
}
