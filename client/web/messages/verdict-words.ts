import type { Step, Verdict } from '#shared/api/verdict'

export const stepNames: Readonly<Record<Step, { title: string; asks: string }>> = {
  suspension: { title: 'Suspension', asks: 'Is the account suspended everywhere?' },
  ban: { title: 'Ban or block', asks: 'Is the sender banned here, or blocked by the other person?' },
  membership: { title: 'Membership', asks: 'Is the sender a member of the room?' },
  archived: { title: 'Archive', asks: 'Is the room still open?' },
  mute: { title: 'Mute', asks: 'Has a moderator muted the sender?' },
  read_only: { title: 'Read-only', asks: 'Are only moderators writing at the moment?' },
  content_type: { title: 'Kind of content', asks: 'Does the room allow this kind of message?' },
  blocked_words: { title: 'Blocked words', asks: 'Does the text hold a word that is blocked, here or everywhere?' },
  links: { title: 'Links', asks: 'Does the text hold a link where links are off?' },
  length: { title: 'Length', asks: 'Is the text longer than the room allows?' },
  slow_mode: { title: 'Slow mode', asks: 'Has the sender waited long enough since the last message?' },
}

const kinds = { setting: 'Setting', word: 'Blocked word', pattern: 'Blocked pattern' } as const
const scopes = { global: 'everywhere', room: 'this room' } as const

export const ruleText = (rule: NonNullable<Verdict['rule']>): string => `${kinds[rule.kind]}, ${scopes[rule.scope]}`
