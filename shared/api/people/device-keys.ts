import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, Done, nameLine, Time, text } from '#shared/kit/primitives'

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
const messagingKeys = {
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

/** 16 random bytes that a client made, as base64url. */
export const KeyId = z.string().regex(/^[A-Za-z0-9_-]{21}[AQgw]$/, { error: 'Not 16 bytes as base64url' })
/** An uncompressed point of P-256, 65 bytes, as base64url. */
const PublicKey = z.string().regex(/^B[A-Za-z0-9_-]{85}[AEIMQUYcgkosw048]$/, {
  error: 'public_key: not an uncompressed point of P-256 as base64url',
})

/**
 * Binds a key to its account: a signature by the account's own key over the SDK's `certificateText`. Readers verify it by the
 * account id alone; the server only passes it on.
 */
export const Certificate = z.strictObject({
  scheme: z.enum(['eip191', 'ed25519']),
  host: text(255),
  issued_at: z.iso.datetime(),
  signature: z.string().regex(/^[A-Za-z0-9_-]{86,176}$|^0x[0-9a-f]{130}$/, { error: 'signature: not a signature' }),
})
export type Certificate = z.infer<typeof Certificate>

export const DeviceKey = z.object({
  address: z.string(),
  device_id: z.string(),
  public_key: z.string(),
  certificate: Certificate.nullable(),
  /** Sent to its own account alone. */
  name: z.string().nullable(),
  created_at: Time,
})
export type DeviceKey = z.infer<typeof DeviceKey>

export const devicesAtMost = 10
export const addressesAtMost = 50

const Addresses = z
  .string()
  .max(160 * addressesAtMost)
  .transform((list) => [...new Set(list.split(',').filter(Boolean))])
  .pipe(
    z
      .array(Address)
      .min(1)
      .max(addressesAtMost, { error: `addresses: at most ${addressesAtMost}` }),
  )

/** The public keys of devices, to which keys of direct conversations are sealed. */
export const deviceKeys = {
  put: operation({
    summary: `Tells the public key of a device of the caller, of which there are at most ${devicesAtMost}. The key of a device never changes, and the id of one that was removed is never taken again (409).`,
    http: 'PUT /api/device-keys',
    socket: '/rooms device-key:put',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      device_id: KeyId,
      public_key: PublicKey,
      name: nameLine(1, 80),
      certificate: Certificate.nullable(),
    }),
    output: z.object({ device: DeviceKey }),
  }),
  list: operation({
    summary:
      'The devices of these accounts, of which each is the caller, a friend, or somebody with whom a direct conversation was opened. Others are left out, as if they had none.',
    http: 'GET /api/device-keys',
    socket: '/rooms device-key:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ addresses: Addresses }),
    output: z.object({ devices: z.array(DeviceKey) }),
  }),
  remove: operation({
    summary: 'Removes a device of the caller: what is sent from then on is sealed by a key that it is not given.',
    http: 'DELETE /api/device-keys/:device_id',
    socket: '/rooms device-key:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'protects',
    input: z.object({ device_id: KeyId }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  ...messagingKeys,
}
