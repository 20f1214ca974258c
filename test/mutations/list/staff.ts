import type { Mutation } from '../mutation.ts'

const staffed = (title: string): Mutation['caughtBy'] => ({
  ...{ project: 'embedded', file: 'test/server/staff-channels.test.ts', title },
})

/** Channels of the staff: who is a member of one, and that nobody else learns of it. */
export const staff: readonly Mutation[] = [
  {
    name: 'who is of the staff no more stays in its channels as long as their record says so',
    breaks: 'channels of the staff',
    file: 'server/domains/room-state/standing.ts',
    find: "roomIn(view)?.access_level === 'staff' && !runsOfficial(view, account)",
    put: 'false',
    caughtBy: staffed('shows itself to nobody who is demoted'),
  },
  {
    name: 'who is suspended sees the channels of the staff',
    breaks: 'channels of the staff',
    file: 'server/domains/room-state/access.ts',
    find: "room.access_level === 'staff' ? standing?.isModerator : standing?.isMember",
    put: "standing?.isMember || (room.access_level === 'staff' && standing?.isModerator)",
    caughtBy: staffed('nor to who is suspended'),
  },
  {
    name: 'who is demoted goes on hearing a channel of the staff',
    breaks: 'channels of the staff',
    file: 'server/domains/messages/live.ts',
    find: '        letGo(node, connection, key, account)\n',
    put: '',
    caughtBy: staffed('is heard by nobody who is demoted'),
  },
  {
    name: 'who is demoted is told what is unread in a channel of the staff',
    breaks: 'channels of the staff',
    file: 'server/domains/inbox/recounts.ts',
    find: 'return keys.filter((_, at) => heard[at])',
    put: 'return heard && [...keys]',
    caughtBy: staffed('is heard by nobody who is demoted'),
  },
  {
    name: 'the list of rooms shows a channel of the staff to who is of it no more',
    breaks: 'channels of the staff',
    file: 'server/domains/room-state/staff-rooms.ts',
    find: 'own.filter((each) => !isOfIt(each))',
    put: 'own',
    caughtBy: staffed('shows itself to nobody who is demoted'),
  },
  {
    name: 'the list of channels shows those of the staff to who has left them',
    breaks: 'channels of the staff',
    file: 'server/domains/rooms/rooms.ts',
    find: "{ access_level: 'staff', _id: { $in: await membershipsOf(account) } }",
    put: "{ access_level: 'staff' }",
    caughtBy: staffed('is listed to members alone'),
  },
  {
    name: 'a channel of the staff takes its name from others',
    breaks: 'channels of the staff',
    file: 'server/domains/rooms/rooms.ts',
    find: 'const names = isHidden ? {} : patch',
    put: 'const names = patch',
    caughtBy: staffed('takes no name from anybody'),
  },
  {
    name: 'nobody makes up for what a node that died left undone',
    breaks: 'channels of the staff',
    file: 'server/domains/room-state/staff-rooms.ts',
    find: 'for (const account of [...gone.map(({ user_address }) => user_address), ...missing])',
    put: 'for (const account of missing)',
    caughtBy: staffed('which is made up for'),
  },
  {
    name: 'who has left a channel of the staff is brought back without end',
    breaks: 'channels of the staff',
    file: 'server/domains/room-state/staff-rooms.ts',
    find: 'const known = new Set(members.map(({ user_address }) => user_address))',
    put: 'const known = new Set(members.flatMap(({ user_address, is_active }) => (is_active ? [user_address] : [])))',
    caughtBy: staffed('when they sign in again'),
  },
]
