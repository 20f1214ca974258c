import type { Mutation, Suite } from '../mutation.ts'

const kept = (title: string): Suite => ({ project: 'embedded', file: 'test/server/meetings.test.ts', title })
const seated = (title: string): Suite => ({ project: 'embedded', file: 'test/server/meeting-seats.test.ts', title })

/** Who gets into a meeting, and who is in it. */
export const meetings: readonly Mutation[] = [
  {
    name: 'anybody ends a meeting',
    breaks: 'T09',
    file: 'server/domains/meetings/index.ts',
    find: 'meeting.host_wallet_address !== account',
    put: "meeting.host_wallet_address === ''",
    caughtBy: kept('nobody but its host ends it'),
  },
  {
    name: 'who is blocked gets a token',
    breaks: 'a block in either direction refuses a token',
    file: 'server/domains/meetings/index.ts',
    find: 'account !== null && (await areBlocked(account, host))',
    put: "account === '' && (await areBlocked(account, host))",
    caughtBy: kept('refused where one has blocked the other'),
  },
  {
    name: 'a meeting of who is suspended goes on',
    breaks: 'N08',
    file: 'server/domains/meetings/index.ts',
    find: 'await isSuspended(node, host)',
    put: 'false',
    caughtBy: kept('lets nobody in'),
  },
  {
    name: 'a guest takes any display name',
    breaks: 'T19',
    file: 'server/domains/meetings/index.ts',
    find: "await refuseDisplayName('displayName', account ?? '', name)",
    put: '',
    caughtBy: kept('are refused to names'),
  },
  {
    name: 'blocked words are display names',
    breaks: 'T18',
    file: 'server/domains/meetings/index.ts',
    find: 'refuseWords(node, view, [name])',
    put: 'refuseWords(node, view, [])',
    caughtBy: kept('are refused to names'),
  },
  {
    name: 'guesses at codes are not counted',
    breaks: 'codes of meetings are not found by trying',
    file: 'server/domains/meetings/records.ts',
    find: "await limits.guard('meeting-codes', caller.ip, most, seconds)\n",
    put: '\n',
    caughtBy: kept('in a minute is told of none'),
  },
  {
    name: 'a meeting never expires',
    breaks: 'a meeting is over after 24 hours',
    file: 'server/domains/meetings/records.ts',
    find: 'expires_at === null || expires_at.getTime() > node.now()',
    put: 'expires_at !== undefined',
    caughtBy: kept('is over after 24 hours'),
  },
  {
    name: 'who has left a meeting still sends offers',
    breaks: 'signals go between people in one meeting alone',
    file: 'server/domains/meetings/seating.ts',
    find: 'place && (await seatOf(place.peer))',
    put: 'place && (await seatOf(place.peer), true)',
    caughtBy: seated('its host ends it for everybody'),
  },
  {
    name: 'offers go to people in every meeting',
    breaks: 'signals go between people in one meeting alone',
    file: 'server/kernel/context.ts',
    find: 'peer: (room: string, peer: string) =>',
    put: 'peer: (_: string, peer: string, room = peer) =>',
    caughtBy: seated('reaches whom it is for'),
  },
  {
    name: 'a place of a dead node stays taken',
    breaks: 'places in a meeting are leases',
    file: 'server/domains/meetings/seats.ts',
    find: 'until: { $lte: new Date(now) }',
    put: 'until: { $lte: new Date(0) }',
    caughtBy: seated('free after its lease'),
  },
  {
    name: 'a meeting has any number of places',
    breaks: 'a meeting has as many places as were asked for',
    file: 'server/domains/meetings/seats.ts',
    find: 'place < most',
    put: 'place < most + 9',
    caughtBy: seated('has as many places'),
  },
  {
    name: 'who enters twice is there twice',
    breaks: 'who enters twice is there once',
    file: 'server/domains/meetings/seating.ts',
    find: 'await seatsOf(pass.room, pass.identity)',
    put: "await seatsOf(pass.room, '')",
    caughtBy: seated('who enters twice'),
  },
]
