import type { Rules } from '#shared/api/verdict'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { contentRules } from './rule-names.ts'

const keyOf = (account: string, ref: RoomRef) => `plaza.rules-seen.${account}.${roomKey(ref)}`

export const haveSeenRules = (account: string, ref: RoomRef): boolean =>
  localStorage.getItem(keyOf(account, ref)) !== null

export const keepRulesSeen = (account: string, ref: RoomRef): void => localStorage.setItem(keyOf(account, ref), 'yes')

/** Whether there is anything in the rules that somebody should know before they write. */
export const hasRules = (rules: Rules): boolean =>
  rules.rules_text !== null ||
  rules.read_only ||
  rules.slow_mode_seconds > 0 ||
  contentRules.some(({ key }) => rules[key] !== 'everyone')
