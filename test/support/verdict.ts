import type { SenderFacts } from '#server/domains/moderation/verdict/verdict'
import { defaultRules, type Rules } from '#shared/api/moderation/verdict'
import { stepsOfAText } from '#shared/kit/budgets'

export const now = Date.UTC(2030, 0, 1)
export const sender = '0x00000000000000000000000000000000000000aa'

/** A member without rights in a room without rules, with the given differences. */
export function stateOf(more: Partial<SenderFacts> = {}, rules: Partial<Rules> = {}): SenderFacts {
  return {
    sealed: null,
    forModerators: false,
    now,
    ahead: 0,
    judgedSeq: 41,
    suspended: false,
    ban: null,
    blocked: false,
    member: true,
    archived: false,
    mute: null,
    moderator: false,
    rules: { ...defaultRules, ...rules },
    words: [],
    steps: stepsOfAText,
    lastMessageAt: null,
    sender,
    storage: { publicUrl: 'https://media.test', missing: new Set() },
    ...more,
  }
}
