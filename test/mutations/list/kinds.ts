import type { Mutation } from '../mutation.ts'
import { kindsAreNamedOnce, sight, typing, unknownKinds, unlisted, writersOfKinds } from './suites.ts'

/** What an entry of a kind of room says. */
export const kinds: readonly Mutation[] = [
  {
    name: 'what is done in direct conversations is told to who moderates everywhere',
    breaks: 'kinds of rooms',
    file: 'server/domains/moderation/hearing.ts',
    find: 'typesWhere((kind) => !kind.hasModerators || (',
    put: 'typesWhere((kind) => (',
    caughtBy: sight,
  },
  {
    name: 'a group is seen by those who are not in it',
    breaks: 'kinds of rooms',
    file: 'server/domains/rooms/kinds.ts',
    find: "seenBy: 'members',\n    readers: 'members',\n    founded: { by: 'its founder'",
    put: "readers: 'members',\n    founded: { by: 'its founder'",
    caughtBy: unlisted,
  },
  {
    name: 'typing is told in a kind of room that tells none',
    breaks: 'kinds of rooms',
    file: 'server/domains/messages/presence.ts',
    find: '  if (!kindOf(key).tells.typing) return {}\n',
    put: '',
    caughtBy: typing,
  },
  {
    name: 'members write in a kind of room in which moderators alone write',
    breaks: 'kinds of rooms',
    file: 'server/domains/verdict/steps.ts',
    find: 'const isHeld = forModerators || (',
    put: 'const isHeld = (',
    caughtBy: writersOfKinds,
  },
  {
    name: 'a node lists rooms of a kind that it does not know',
    breaks: 'kinds of rooms',
    file: 'server/domains/rooms/rooms.ts',
    find: 'rows.map(({ room }) => room).filter(isKnown)',
    put: 'rows.map(({ room }) => room)',
    caughtBy: unknownKinds,
  },
  {
    name: 'a kind is told apart outside its entries',
    breaks: 'kinds of rooms',
    file: 'server/domains/messages/search.ts',
    find: 'if (kinds[room.type].isSealed)',
    put: "if (room.type === 'dm')",
    caughtBy: kindsAreNamedOnce,
  },
]
