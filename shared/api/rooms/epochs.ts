import { z } from 'zod'
import { Certificate, KeyId } from '#shared/api/people/device-keys'
import { event, operation } from '#shared/kit/contract'
import { AnyRoomId, count, Time } from '#shared/kit/primitives'
import { RoomKey } from './room.ts'

/** The key of an epoch, sealed to one device: `enc` of 65 bytes and `sealed` of 48, as base64url. */
export const Envelope = z.strictObject({
  device_id: KeyId,
  enc: z.string().regex(/^[A-Za-z0-9_-]{87}$/, { error: 'enc: not 65 bytes as base64url' }),
  sealed: z.string().regex(/^[A-Za-z0-9_-]{64}$/, { error: 'sealed: not 48 bytes as base64url' }),
})
export type Envelope = z.infer<typeof Envelope>

/** Two accounts with ten devices each. */
const Envelopes = z.array(Envelope).min(1).max(20)

/** The sealing device, as its account described it then. */
export const SealedBy = z.object({
  address: z.string(),
  device_id: z.string(),
  public_key: z.string(),
  certificate: Certificate.nullable(),
})
export type SealedBy = z.infer<typeof SealedBy>

export const Epoch = z.object({
  epoch_id: z.string(),
  seq: z.number().int(),
  at: Time,
  /** Messages are sent under it. */
  is_current: z.boolean(),
  /** The devices that it was sealed to. */
  device_ids: z.array(z.string()),
  /** Those of them that devices of the caller have sealed it to: what the other has sealed may open nothing. */
  own_device_ids: z.array(z.string()),
  /** Those for the device that was asked for. */
  envelopes: z.array(z.object({ enc: z.string(), sealed: z.string(), by: SealedBy })),
})
export type Epoch = z.infer<typeof Epoch>

const id = AnyRoomId
const errors = ['ROOM_NOT_FOUND', 'BLOCKED'] as const

/** The keys of direct conversations, each sealed to the devices of the two people (docs/protocol.md, "Direct messages"). */
export const epochs = {
  start: operation({
    summary:
      'Begins an epoch of a direct conversation. `after` is the one it follows, or null; where another was begun meanwhile, this one is refused (409) with the `epoch_id` of that one.',
    http: 'POST /api/dms/:id/epochs',
    socket: '/rooms epoch:start',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ id, epoch_id: KeyId, after: KeyId.nullable(), device_id: KeyId, envelopes: Envelopes }),
    output: z.object({ epoch_id: z.string(), seq: z.number().int() }),
    errors,
  }),
  list: operation({
    summary: 'The epochs of a direct conversation, the newest first, with what is sealed to one device of the caller.',
    http: 'GET /api/dms/:id/epochs',
    socket: '/rooms epoch:list',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    input: z.object({ id, device_id: KeyId, before_seq: count(1, Number.MAX_SAFE_INTEGER).optional() }),
    output: z.object({ epochs: z.array(Epoch), has_more: z.boolean() }),
    errors: ['ROOM_NOT_FOUND'],
  }),
  share: operation({
    summary: 'Gives the key of an epoch, sealed, to more devices of the two people.',
    http: 'POST /api/dms/:id/epochs/:epoch_id/envelopes',
    socket: '/rooms epoch:share',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ id, epoch_id: KeyId, device_id: KeyId, envelopes: Envelopes }),
    output: z.object({ seq: z.number().int() }),
    errors: [...errors, 'NOT_FOUND'],
  }),
  request: operation({
    summary: 'Asks the devices of the two people for epochs that were not sealed to this one.',
    http: 'POST /api/dms/:id/epochs/request',
    socket: '/rooms epoch:request',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ id, device_id: KeyId }),
    output: z.object({ requested: z.literal(true) }),
    errors,
  }),
}

export const keyRequested = event('/rooms key:requested', {
  summary: 'A device of one of the two people of a direct conversation asks for epochs that were not sealed to it.',
  audience: 'account',
  payload: z.object({ room: RoomKey, address: z.string(), device_id: z.string() }),
})
export const epochEvents = { keyRequested }
