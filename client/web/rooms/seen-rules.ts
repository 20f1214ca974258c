import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Rules } from '#shared/api/moderation/verdict'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { filesAllowedIn } from '#shared/kit/room-kinds'
import { kindOf } from './kind.ts'
import { contentRules } from './rule-names.ts'

const keyOf = (account: string, ref: RoomRef) => `plaza.rules-seen.${account}.${roomKey(ref)}`

const haveSeenRules = (account: string, ref: RoomRef): boolean => localStorage.getItem(keyOf(account, ref)) !== null

export const keepRulesSeen = (account: string, ref: RoomRef): void => localStorage.setItem(keyOf(account, ref), 'yes')

/** True if the rules restrict what members may send more than the kind of room does, or have a text. */
const hasRules = (rules: Rules, ref: RoomRef): boolean =>
  rules.rules_text !== null ||
  rules.read_only ||
  rules.slow_mode_seconds > 0 ||
  contentRules.some(
    ({ key }) => rules[key] !== 'everyone' && (key !== 'files_allowed' || rules[key] !== filesAllowedIn(ref.type)),
  )

/** Whether a room has rules that the account has not acknowledged, and the function that acknowledges them. */
export function useNewRules(account: string, ref: RoomRef, { rules, rulesVersion }: RoomState): [boolean, () => void] {
  const [areSeen, setSeen] = useState(() => haveSeenRules(account, ref))
  const hide = () => {
    keepRulesSeen(account, ref)
    setSeen(true)
  }
  return [!areSeen && rulesVersion > 0 && kindOf(ref).hasRules && hasRules(rules, ref), hide]
}
