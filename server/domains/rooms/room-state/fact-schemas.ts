import { z } from 'zod'
import { WordAction } from '#shared/api/moderation/moderation-records'
import { Rules } from '#shared/api/moderation/verdict'
import { Envelope, SealedBy } from '#shared/api/rooms/epochs'
import type { AttendanceGate, Gate } from '#shared/api/rooms/gates'
import { MemberRole, Room } from '#shared/api/rooms/room'

const text = z.string()
const number = z.number()
const flag = z.boolean()

/** Facts of the log and the content of rows: plain JSON. */
export const RoomFact = Room.omit({
  ...{ id: true, type: true, message_count: true, is_member: true },
  ...{ attendance_event_id: true, attendance_event_name: true, attendance_image_url: true },
  ...{ attendance_collection_id: true, attendance_collection_name: true, attendance_collection_image_url: true },
})
export type RoomFact = z.infer<typeof RoomFact>
/** The fact of a stored room; fields unknown to its version are null. */
export function roomFactOf(record: { readonly [field: string]: unknown }): RoomFact {
  const fact = Object.fromEntries(
    Object.keys(RoomFact.shape).map((field) => [field, record[field] ?? null]),
  ) as RoomFact
  return { ...fact, gate: gateIn(fact.gate) }
}

/** The former ids of an archived room; an id in the gate itself belongs to one room only. */
interface FormerIds {
  was?: Pick<AttendanceGate, 'event_id' | 'collection_id'>
}

/** The stored gate: an archived room leaves its event or collection to another one. */
export function gateToStore({ gate, is_active }: Pick<RoomFact, 'gate' | 'is_active'>): (Gate & FormerIds) | null {
  if (is_active || gate?.by !== 'attendance') return gate
  const { by, name, image_url, ...was } = gate
  return { by, name, image_url, was }
}

function gateIn(stored: (Gate & FormerIds) | null): Gate | null {
  if (stored?.by !== 'attendance') return stored
  const { was, ...gate } = stored
  return { ...gate, ...was }
}

export const MemberFact = z.object({
  user_address: text,
  role: MemberRole,
  joined_at: text,
  /** The room's position when they joined; absent for members of older versions and in direct rooms. */
  joined_seq: number.exactOptional(),
  joined_n: number.exactOptional(),
})
export type MemberFact = z.infer<typeof MemberFact>

/** A batch of envelopes with its sealing device. */
export const EnvelopeBatch = z.object({ by: SealedBy, envelopes: z.array(Envelope) })
export type EnvelopeBatch = z.infer<typeof EnvelopeBatch>
export const EpochFact = z.object({ epoch_id: text, seq: number, at: number, lots: z.array(EnvelopeBatch) })
export type EpochFact = z.infer<typeof EpochFact>
/** The latest epoch. `is_over`: after a block, no message is sent under it. */
export const CurrentEpochFact = z.object({ epoch_id: text, device_ids: z.array(text), is_over: flag })
export type CurrentEpochFact = z.infer<typeof CurrentEpochFact>

export const BanFact = z.object({
  ban_id: text,
  user_address: text,
  banned_by: text,
  reason: text.nullable(),
  banned_at: text,
  banned_until: text.nullable(),
})
export type BanFact = z.infer<typeof BanFact>

export const MuteFact = z.object({
  mute_id: text,
  user_address: text,
  muted_by: text,
  reason: text.nullable(),
  muted_at: text,
  muted_until: text.nullable(),
})
export type MuteFact = z.infer<typeof MuteFact>

export const ModeratorFact = z.object({
  moderator_id: text,
  user_address: text,
  granted_by: text,
  granted_at: text,
  can_pin: flag,
  can_delete: flag,
  can_mute: flag,
  can_manage_mods: flag,
  notes: text.nullable(),
  /** The room's position of the grant; null after its holder has left, absent in older grants. */
  granted_seq: number.nullable().exactOptional(),
})
export type ModeratorFact = z.infer<typeof ModeratorFact>

export const WordFact = z.object({
  word_id: text,
  word: text,
  action: WordAction,
  is_regex: flag,
  as_written: flag.exactOptional(),
  added_by: text,
  added_at: text,
  cost: number,
  quarantined: text.nullable(),
})
export type WordFact = z.infer<typeof WordFact>

export const RulesFact = Rules.extend({
  rules_id: text,
  version: number,
  updated_by: text.nullable(),
  updated_at: text.nullable(),
})
export type RulesFact = z.infer<typeof RulesFact>

/** An invitation link; kept for some time after its end, to explain refusals. */
export const InvitationFact = z.object({
  invitation_id: text,
  token_hash: text,
  invited_by: text,
  created_at: text,
  expires_at: text,
  max_uses: number,
  uses: number,
  revoked_at: text.nullable(),
})
export type InvitationFact = z.infer<typeof InvitationFact>
