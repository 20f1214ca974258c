import { z } from 'zod'
import { type ErrorCode, errors } from '#shared/errors'
import { clearTypes } from '#shared/kit/clear-types'
import { text } from '#shared/kit/primitives'

export const MessageType = z.enum([
  'text',
  'photo',
  'gif',
  'pixel_art',
  'poll',
  'location',
  'voice',
  'encrypted_image',
  'voice_memo',
  ...clearTypes,
])
export type MessageType = z.infer<typeof MessageType>

export const PermissionLevel = z.enum(['everyone', 'mods_only', 'disabled'])
export type PermissionLevel = z.infer<typeof PermissionLevel>

/** A permission level as written: older clients send booleans. */
const PermissionLevelInput = z.union([
  PermissionLevel,
  z.boolean().transform((allowed): PermissionLevel => (allowed ? 'everyone' : 'disabled')),
])

export const slowModeSeconds = [0, 5, 10, 30, 60, 300, 600] as const

/** The ages in seconds at which messages of a room are removed; 0 is never. */
export const messageTtlSeconds = [0, 3_600, 86_400, 604_800, 2_592_000, 7_776_000, 31_536_000] as const
const MessageTtl = z.literal(messageTtlSeconds)

/** The readers of a room of an open kind. Moderators may always read. */
export const ReadAccess = z.enum(['everyone', 'signed_in', 'members'])
export type ReadAccess = z.infer<typeof ReadAccess>

const otherRules = {
  read_only: z.boolean(),
  slow_mode_seconds: z.literal(slowModeSeconds),
  max_message_length: z.int().min(0),
  rules_text: z.string().max(10_000).nullable(),
}

/**
 * The settings of a room. A `slow_mode_seconds` of 0 is off, a `max_message_length` of 0 is unlimited. Messages older than `message_ttl`
 * seconds are removed within a minute; 0 keeps them. Pinned messages and those in an open report stay. Until `files_allowed` is set,
 * the kind of room decides.
 */
export const Rules = z.object({
  ...permissionsOf(PermissionLevel),
  ...otherRules,
  files_allowed: PermissionLevel.default('disabled'),
  read_access: ReadAccess.default('everyone'),
  message_ttl: MessageTtl.default(0),
})
export type Rules = z.infer<typeof Rules>

/** Any of the settings, as written. */
export const RulesPatch = z
  .object({
    ...permissionsOf(PermissionLevelInput),
    ...otherRules,
    rules_text: text(10_000).nullable(),
    read_access: ReadAccess,
    message_ttl: MessageTtl,
  })
  .partial()
export type RulesPatch = z.infer<typeof RulesPatch>

export const defaultRules: Rules = {
  ...permissionsOf('everyone'),
  read_only: false,
  slow_mode_seconds: 0,
  max_message_length: 0,
  rules_text: null,
  read_access: 'everyone',
  message_ttl: 0,
}

function permissionsOf<Level>(level: Level) {
  return {
    links_allowed: level,
    photos_allowed: level,
    pixel_art_allowed: level,
    gifs_allowed: level,
    polls_allowed: level,
    location_sharing_allowed: level,
    voice_allowed: level,
    files_allowed: level,
  }
}

/** The steps of a verdict, in the order in which they are judged. */
export const steps = [
  'suspension',
  'ban',
  'membership',
  'archived',
  'mute',
  'read_only',
  'content_type',
  'blocked_words',
  'links',
  'length',
  'slow_mode',
] as const
export const Step = z.enum(steps)
export type Step = z.infer<typeof Step>

/** What decided: a setting of the room by its name, or a blocked word by its id. Never the word itself. */
export const DecidingRule = z.object({
  id: z.string(),
  kind: z.enum(['setting', 'word', 'pattern']),
  scope: z.enum(['global', 'room']),
})
export type DecidingRule = z.infer<typeof DecidingRule>

const ErrorCodes = z.enum(Object.keys(errors) as [ErrorCode, ...ErrorCode[]])

/** The explained answer to a send: the same bytes on every door. */
export const Verdict = z.object({
  ok: z.boolean(),
  step: Step.nullable(),
  code: ErrorCodes.nullable(),
  status: z.int(),
  text: z.string().nullable(),
  rule: DecidingRule.nullable(),
  until: z.iso.datetime().nullable(),
  /** The judged seq of the room; 0 for callers who may not read it. */
  judged_seq: z.int(),
})
export type Verdict = z.infer<typeof Verdict>

/** What a member can send, in the order a composer shows it. */
export const sendables = [
  'text',
  'photo',
  'gif',
  'pixel_art',
  'poll',
  'location',
  'voice',
  'encrypted_image',
  'voice_memo',
  'file',
  'links',
] as const
export const Sendable = z.enum(sendables)
export type Sendable = z.infer<typeof Sendable>

/** What a member may send now. A `max_length` of 0 is unlimited. */
export const Capabilities = z.object({
  capabilities: z.record(Sendable, z.object({ ok: z.boolean(), code: ErrorCodes.nullable() })),
  next_send_at: z.iso.datetime().nullable(),
  max_length: z.int(),
})
export type Capabilities = z.infer<typeof Capabilities>
