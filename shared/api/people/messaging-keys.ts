import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress } from '#shared/kit/primitives'

/** Base64, of either alphabet; null and '' take away what was kept. */
const opaque = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[A-Za-z0-9+/_-]*={0,2}$/, { error: 'Not base64' })
    .nullish()

const Kept = z.object({
  messaging_public_key: z.string().nullable(),
  messaging_private_key_encrypted: z.string().nullable(),
  messaging_backup_encrypted: z.string().nullable(),
  messaging_backup_salt: z.string().nullable(),
  messaging_backup_enabled: z.boolean(),
})
export type KeptKeys = z.infer<typeof Kept>

/** What a client keeps here of a messaging key of its own, for its next device. Direct messages are sealed to the keys of devices, and to none of these. */
export const messagingKeys = {
  kept: operation({
    summary: 'What the caller keeps here of a messaging key. It is told to nobody else, and nothing is sealed to it.',
    http: 'GET /api/user/messaging-keys',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress }),
    output: Kept,
  }),
  keep: operation({
    summary: 'Keeps what is given of a messaging key, as the client has sealed it; what is left out stays as it is.',
    http: 'PUT /api/user/messaging-keys',
    aliases: [{ http: 'POST /api/user/messaging-keys' }],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    audit: true,
    input: z.object({
      messaging_public_key: opaque(1_024),
      messaging_private_key_encrypted: opaque(8_192),
      messaging_backup_encrypted: opaque(16_384),
      messaging_backup_salt: opaque(256),
      messaging_backup_enabled: z.boolean().nullish(),
      userAddress: CallerAddress,
    }),
    output: Kept,
  }),
}
