import type { ModerationAction } from '#shared/api/moderation/moderation-acts'
import type { LogAction } from '#shared/api/moderation/moderation-records'
import type { IconName } from '../kit/icon.tsx'
import { moderationTexts as t } from '../texts/moderation.ts'

interface Words {
  /** The part of the sentence before the name of the person. */
  text: string
  icon: IconName
}

/** The text for each act, by its name in the moderation log or in the room event. */
const words: Readonly<Record<LogAction | ModerationAction, Words>> = {
  mute: { text: t.acts.mute, icon: 'mute' },
  unmute: { text: t.acts.unmute, icon: 'mute' },
  ban: { text: t.acts.ban, icon: 'block' },
  room_ban: { text: t.acts.ban, icon: 'block' },
  unban: { text: t.acts.unban, icon: 'check' },
  room_unban: { text: t.acts.unban, icon: 'check' },
  delete: { text: t.acts.delete, icon: 'bin' },
  pin: { text: t.acts.pin, icon: 'pin' },
  unpin: { text: t.acts.unpin, icon: 'pin' },
  purge: { text: t.acts.purge, icon: 'bin' },
  warn: { text: t.acts.warn, icon: 'warn' },
  kick: { text: t.acts.kick, icon: 'shield' },
  promote: { text: t.acts.promote, icon: 'star' },
  promote_mod: { text: t.acts.promote, icon: 'star' },
  demote: { text: t.acts.demote, icon: 'star' },
  demote_mod: { text: t.acts.demote, icon: 'star' },
  invite: { text: t.acts.invite, icon: 'shield' },
  uninvite: { text: t.acts.uninvite, icon: 'shield' },
  set_role: { text: t.acts.set_role, icon: 'shield' },
  admin_role: { text: t.acts.admin_role, icon: 'shield' },
  suspend: { text: t.acts.suspend, icon: 'block' },
  unsuspend: { text: t.acts.unsuspend, icon: 'check' },
  archive: { text: t.acts.archive, icon: 'shield' },
  rules: { text: t.acts.rules, icon: 'book' },
  word_add: { text: t.acts.word_add, icon: 'shield' },
  word_remove: { text: t.acts.word_remove, icon: 'shield' },
}

/** Names of acts that only events have; the log has others for them. */
const ofEvents = ['ban', 'unban', 'promote', 'demote']
/** The acts by which the log can be asked. */
export const loggedActs: readonly string[] = Object.keys(words).filter((name) => !ofEvents.includes(name))

/** The text for an act; an act that only a newer server knows is shown by its name. */
export function actWords(action: string): Words {
  const known: Readonly<Partial<Record<string, Words>>> = words
  return (Object.hasOwn(words, action) && known[action]) || { text: action.replaceAll(/[_-]/g, ' '), icon: 'shield' }
}

export const actText = (action: string): string => actWords(action).text
