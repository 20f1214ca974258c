import { z } from 'zod'
import { Address, ClientId, Id, RoomRef, Time, text } from '#shared/kit/primitives'
import { WordAction } from './moderation-records.ts'
import { RulesPatch } from './verdict.ts'

export const moderationActions = [
  'mute',
  'unmute',
  'ban',
  'unban',
  'delete',
  'pin',
  'unpin',
  'purge',
  'warn',
  'promote',
  'demote',
  'rules',
  'word_add',
  'word_remove',
] as const
export const ModerationAction = z.enum(moderationActions)
export type ModerationAction = z.infer<typeof ModerationAction>

/** Lengths of a ban or a mute: a number and m, h, d or w, or `permanent`. */
export const MuteDuration = z.string().regex(/^([1-9][0-9]{0,3}[mhdw]|permanent)$/, { error: 'Invalid duration' })
export const Reason = text(500).nullish()
const Target = Address
export const Word = text(200, 'word missing').trim().min(1, 'word missing')
export const Grants = {
  canPin: z.boolean().optional(),
  canDelete: z.boolean().optional(),
  canMute: z.boolean().optional(),
  canManageMods: z.boolean().optional(),
}

/** A type and no interface: the declarations of the SDK repeat it. */
type Patch = {
  canPin?: boolean | undefined
  canDelete?: boolean | undefined
  canMute?: boolean | undefined
  canManageMods?: boolean | undefined
  notes?: string | null | undefined
  rules?: RulesPatch | undefined
  word?: string | undefined
  word_action?: z.infer<typeof WordAction> | undefined
  is_regex?: boolean | undefined
  as_written?: boolean | undefined
  word_id?: string | undefined
}

/** What an act sets: permissions, settings, or a word. Settings may stand alone or under `rules`, names in either spelling. */
const Patch = z
  .strictObject({
    ...Grants,
    can_pin: z.boolean().optional(),
    can_delete: z.boolean().optional(),
    can_mute: z.boolean().optional(),
    can_manage_mods: z.boolean().optional(),
    notes: text(1_000).nullish(),
    rules: RulesPatch.optional(),
    ...RulesPatch.shape,
    word: Word.optional(),
    word_action: WordAction.optional(),
    action: WordAction.optional(),
    is_regex: z.boolean().optional(),
    isRegex: z.boolean().optional(),
    as_written: z.boolean().optional(),
    asWritten: z.boolean().optional(),
    word_id: Id.optional(),
    id: Id.optional(),
  })
  .transform((given): Patch => {
    const {
      can_pin,
      can_delete,
      can_mute,
      can_manage_mods,
      notes,
      rules,
      word,
      word_action,
      is_regex,
      as_written,
      word_id,
      ...rest
    } = given
    const { canPin, canDelete, canMute, canManageMods, action, isRegex, asWritten, id, ...settings } = rest
    return {
      canPin: canPin ?? can_pin,
      canDelete: canDelete ?? can_delete,
      canMute: canMute ?? can_mute,
      canManageMods: canManageMods ?? can_manage_mods,
      notes,
      rules: { ...settings, ...rules },
      word,
      word_action: word_action ?? action,
      is_regex: is_regex ?? isRegex,
      as_written: as_written ?? asWritten,
      word_id: word_id ?? id,
    }
  })

export const Act = z.object({
  /** Null: everywhere (global moderators and words). */
  room: RoomRef.nullable(),
  client_action_id: ClientId.optional(),
  action: ModerationAction,
  target: Target.nullish(),
  message_id: Id.nullish(),
  duration: MuteDuration.nullish(),
  reason: Reason,
  patch: Patch.optional(),
})
export type Act = z.output<typeof Act>

export const Acted = z.object({
  entry: z.object({ id: z.string(), seq: z.number().int(), hash: z.string() }).nullable(),
  effects: z.object({
    sockets_removed: z.number().int(),
    messages_removed: z.number().int(),
    expires_at: Time.nullable(),
    pending_nodes: z.number().int(),
  }),
  /** What the act left behind: the ban, mute, moderator, word, rules or message. */
  record: z.unknown(),
})
export type Acted = z.output<typeof Acted>
