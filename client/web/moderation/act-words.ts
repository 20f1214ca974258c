const done: Readonly<Record<string, string>> = {
  mute: 'muted',
  unmute: 'unmuted',
  ban: 'banned',
  unban: 'lifted the ban of',
  delete: 'deleted a message of',
  pin: 'pinned a message',
  unpin: 'unpinned a message',
  purge: 'removed the messages of',
  warn: 'warned',
  kick: 'took out',
  promote: 'made a moderator of',
  demote: 'took the moderator role of',
  rules: 'changed the rules',
  word_add: 'blocked a word',
  word_remove: 'freed a word',
}

/** An act of a moderator as it is told afterwards. */
export const actText = (action: string): string => done[action] ?? action.replaceAll(/[_-]/g, ' ')
