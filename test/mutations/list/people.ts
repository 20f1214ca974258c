import type { Mutation, Suite } from '../mutation.ts'

const starred = (title: string): Suite => ({ project: 'embedded', file: 'test/server/stars.test.ts', title })
const folders = (title: string): Suite => ({ project: 'embedded', file: 'test/server/chat-folders.test.ts', title })
const places = (title: string): Suite => ({ project: 'hostile', file: 'test/hostile/many-places.test.ts', title })
const profiles = (title: string): Suite => ({ project: 'embedded', file: 'test/server/accounts.test.ts', title })
const told: Suite = { project: 'embedded', file: 'test/server/push.test.ts', title: 'want to be disturbed' }

/** What people say of themselves, and what they mark for themselves. */
export const people: readonly Mutation[] = [
  {
    name: 'a deleted message lives on by a star',
    breaks: 'T09',
    file: 'server/domains/stars/index.ts',
    find: '.filter(({ body }) => !body.deleted)',
    put: '.filter(({ body }) => body)',
    caughtBy: starred('does not live on by a star'),
  },
  {
    name: 'a star is loaded by its message alone',
    breaks: 'T09',
    file: 'server/domains/stars/index.ts',
    find: 'Stars.deleteOne({ _id: idOf(account, message_id) })',
    put: 'Stars.deleteOne({ message_id })',
    caughtBy: starred('stars are of their account alone'),
  },
  {
    name: 'notes of a star stay for ever',
    breaks: 'documented paths',
    file: 'server/domains/stars/index.ts',
    find: '...(notes !== undefined && {',
    put: '...(notes && {',
    caughtBy: starred('are listed as they are now'),
  },
  {
    name: 'one star more than there may be costs one call, however many rooms are looked through for it',
    breaks: 'T61',
    file: 'server/domains/stars/index.ts',
    find: '  await context.charge(roomsOf(all).length)\n',
    put: '',
    caughtBy: places('a star more than there may be'),
  },
  {
    name: 'a chat folder is removed by its id alone',
    breaks: 'T09',
    file: 'server/domains/chat-folders/index.ts',
    find: 'ChatFolders.deleteOne({ _id: folder_id, user_address: account })',
    put: 'ChatFolders.deleteOne({ _id: folder_id })',
    caughtBy: folders('a folder is of its account alone'),
  },
  {
    name: 'rooms that the caller is not in are put into folders',
    breaks: 'T09',
    file: 'server/domains/chat-folders/index.ts',
    find: 'if (!keys.every((key) => listed.has(key)))',
    put: 'if (keys.length < 0)',
    caughtBy: folders('only rooms that the caller is in are taken'),
  },
  {
    name: 'a room that was left stays in chat folders',
    breaks: 'chat folders',
    file: 'server/domains/chat-folders/folders.ts',
    find: 'own.has(key) && room.is_active',
    put: 'own && room.is_active',
    caughtBy: folders('a room that was left'),
  },
  {
    name: 'chat folders cost one call, however many rooms are in them',
    breaks: 'T61',
    file: 'server/domains/chat-folders/index.ts',
    find: '    await context.charge(chats.length)\n',
    put: '',
    caughtBy: places('folders of a hundred chats are changed half as often as those of few'),
  },
  {
    name: 'receipts of however many messages cost one call',
    breaks: 'T61',
    file: 'server/domains/messages/reads.ts',
    find: '  await context.charge(places.length)\n',
    put: '',
    caughtBy: places('receipts of a hundred messages'),
  },
  {
    name: 'who is in thousands of rooms is never shown them',
    breaks: 'T61',
    file: 'server/kernel/costs.ts',
    find: 'Math.min(Math.ceil(count / ofACall), callsAtMost)',
    put: 'Math.ceil(count / ofACall)',
    caughtBy: places('in thousands of rooms'),
  },
  {
    name: 'what is kept of a room is shown after a change of it',
    breaks: 'O04',
    file: 'server/kernel/kept-as-of.ts',
    find: 'known?.stamp !== stamp',
    put: '!known',
    caughtBy: { project: 'embedded', file: 'test/server/list-costs.test.ts', title: 'shows each change of a room' },
  },
  {
    name: 'an address with many accounts pays for nothing together',
    breaks: 'O04',
    file: 'server/kernel/costs.ts',
    find: 'if (retryAfter !== null)',
    put: 'if (retryAfter === 0)',
    caughtBy: places('is counted for an address as well'),
  },
  {
    name: 'a status makes a name another',
    breaks: 'T19',
    file: 'server/domains/accounts/names.ts',
    find: 'deceptionBy(said) ?? (asUsername',
    put: '(asUsername',
    caughtBy: profiles('is refused'),
  },
  {
    name: 'a status passes for a username',
    breaks: 'T19',
    file: 'server/domains/accounts/names.ts',
    find: "asUsername.test(said.normalize('NFKC'))",
    put: 'said.length < 0',
    caughtBy: profiles('is refused'),
  },
  {
    name: 'a status that an older version stored passes for a username',
    breaks: 'T19',
    file: 'server/domains/accounts/profiles.ts',
    find: ' || deceptionByStatus(said) !== null',
    put: '',
    caughtBy: profiles('show no status that an older version stored'),
  },
  {
    name: 'who is not to be disturbed is told all the same',
    breaks: 'T63',
    file: 'server/domains/push/preferences.ts',
    find: "if (preferences.doNotDisturb) return 'do_not_disturb'",
    put: '',
    caughtBy: told,
  },
]
