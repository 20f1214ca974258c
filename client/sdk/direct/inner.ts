import { z } from 'zod'
import { MessageType } from '#shared/api/moderation/verdict'
import { KeyId } from '#shared/api/people/device-keys'
import { Content, draft } from '#shared/api/rooms/message-draft'
import { clearTypes } from '#shared/kit/clear-types'
import { Id, isVisible } from '#shared/kit/primitives'
import type { Draft } from '../types.ts'

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

export function innerOf(json: string, client_msg_id: string): Inner {
  try {
    const inner = Inner.parse(JSON.parse(json))
    if (inner.client_msg_id === client_msg_id) return inner
  } catch {}
  throw new NoMessage()
}
