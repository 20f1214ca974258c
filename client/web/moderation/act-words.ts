import type { ModerationAction } from '#shared/api/moderation-acts'
import type { LogAction } from '#shared/api/moderation-records'
import type { IconName } from '../kit/icon.tsx'

interface Words {
  /** The part of the sentence before the name of the person. */
  text: string
  icon: IconName
}

/** The text for each act, by its name in the moderation log or in the room event. */
const words: Readonly<Record<LogAction | ModerationAction, Words>> = {
  mute: { text: 'muted', icon: 'mute' },
  unmute: { text: 'unmuted', icon: 'mute' },
  ban: { text: 'banned', icon: 'block' },
  room_ban: { text: 'banned', icon: 'block' },
  unban: { text: 'lifted the ban of', icon: 'check' },
  room_unban: { text: 'lifted the ban of', icon: 'check' },
  delete: { text: 'deleted a message of', icon: 'bin' },
  pin: { text: 'pinned a message', icon: 'pin' },
  unpin: { text: 'unpinned a message', icon: 'pin' },
  purge: { text: 'removed the messages of', icon: 'bin' },
  warn: { text: 'warned', icon: 'warn' },
  kick: { text: 'took out', icon: 'shield' },
  promote: { text: 'made a moderator of', icon: 'star' },
  promote_mod: { text: 'made a moderator of', icon: 'star' },
  demote: { text: 'took the moderator role of', icon: 'star' },
  demote_mod: { text: 'took the moderator role of', icon: 'star' },
  invite: { text: 'made an invitation link', icon: 'shield' },
  uninvite: { text: 'took an invitation link back', icon: 'shield' },
  set_role: { text: 'changed the role of', icon: 'shield' },
  admin_role: { text: 'changed the site role of', icon: 'shield' },
  suspend: { text: 'suspended', icon: 'block' },
  unsuspend: { text: 'lifted the suspension of', icon: 'check' },
  archive: { text: 'archived the room', icon: 'shield' },
  rules: { text: 'changed the rules', icon: 'book' },
  word_add: { text: 'blocked a word', icon: 'shield' },
  word_remove: { text: 'freed a word', icon: 'shield' },
}

/** The text for an act; an act that only a newer server knows is shown by its name. */
export function actWords(action: string): Words {
  const known: Readonly<Partial<Record<string, Words>>> = words
  return (Object.hasOwn(words, action) && known[action]) || { text: action.replaceAll(/[_-]/g, ' '), icon: 'shield' }
}

export const actText = (action: string): string => actWords(action).text
