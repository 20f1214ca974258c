const done: Readonly<Record<string, string>> = {
  mute: 'muted',
  unmute: 'unmuted',
  ban: 'banned',
  room_ban: 'banned',
  unban: 'lifted the ban of',
  room_unban: 'lifted the ban of',
  delete: 'deleted a message of',
  pin: 'pinned a message',
  unpin: 'unpinned a message',
  purge: 'removed the messages of',
  warn: 'warned',
  kick: 'took out',
  promote: 'made a moderator of',
  promote_mod: 'made a moderator of',
  demote: 'took the moderator role of',
  demote_mod: 'took the moderator role of',
  invite: 'made an invitation link',
  uninvite: 'took an invitation link back',
  set_role: 'changed the role of',
  archive: 'archived the room',
  rules: 'changed the rules',
  word_add: 'blocked a word',
  word_remove: 'freed a word',
}

/** An act of a moderator as it is told afterwards. */
export const actText = (action: string): string => done[action] ?? action.replaceAll(/[_-]/g, ' ')
