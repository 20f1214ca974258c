import { expect, test } from 'vitest'
import { answerPoll, pollsToAsk } from '#client/sdk/polls'
import { applyEvents, applyRows, emptyRoom } from '#client/sdk/timeline'
import type { RoomState } from '#client/sdk/types'
import type { Poll } from '#shared/api/rooms/polls'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { messageRow, room } from './tiny-server.ts'

const row = {
  ...messageRow({ seq: 1, n: 1, sender: 'ada', content: '[POLL]Tea?', client_msg_id: 'c1' }),
  poll_id: 'poll',
}
const live: RoomState = { ...applyRows(emptyRoom(room), [row]), status: 'live' }

const pollOf = (version: number, counts: [number, number], user_votes: number[] = []): Poll => ({
  id: 'poll',
  message_id: row.id,
  channel_id: null,
  group_id: null,
  creator_address: 'ada',
  question: 'Tea?',
  options: ['yes', 'no'],
  options_detail: [],
  allows_multiple: false,
  ends_at: null,
  is_anonymous: false,
  is_closed: false,
  is_active: true,
  created_at: '',
  version,
  votes: counts.map((count, option_index) => ({ option_index, count, voters: [] })),
  user_votes,
  total_votes: counts[0] + counts[1],
})

const told = (state: RoomState, by: string, poll: Poll): RoomState => {
  const actor = { id: by, name: by, role: null, isAgent: false }
  const seq = state.seq + 1
  const event = { room, epoch: 'first', seq, type: 'poll.changed', at: '', actor, data: { poll } }
  return applyEvents(state, [event as unknown as RoomEvent], 'bob')
}
const shown = ({ polls }: RoomState) => {
  const poll = polls.get('poll')
  return poll && { version: poll.version, mine: poll.user_votes }
}

test('the answer to a vote is applied also after a later event', () => {
  const asked = answerPoll(live, pollOf(1, [0, 0]))
  const later = told(told(asked, 'bob', pollOf(2, [1, 0])), 'cyd', pollOf(3, [1, 1]))
  expect(shown(answerPoll(later, pollOf(2, [1, 0], [0])))).toEqual({ version: 3, mine: [0] })
})

test('an answer that is older than the last one changes nothing', () => {
  const voted = answerPoll(live, pollOf(2, [1, 0], [0]))
  expect(answerPoll(voted, pollOf(1, [0, 0]))).toBe(voted)
})

test('votes are asked for where a poll is not known, and after a vote of this account, not after those of others', () => {
  expect([...pollsToAsk(live)]).toEqual([['poll', 0]])
  const asked = answerPoll(live, pollOf(1, [0, 0]))
  const byOther = told(asked, 'cyd', pollOf(2, [1, 0]))
  expect([...pollsToAsk(byOther)]).toEqual([])
  const own = told(byOther, 'bob', pollOf(3, [2, 0]))
  expect([...pollsToAsk(own)]).toEqual([['poll', 3]])
  expect([...pollsToAsk(answerPoll(own, pollOf(2, [1, 0])))]).toEqual([['poll', 3]])
  expect([...pollsToAsk(answerPoll(own, pollOf(3, [2, 0], [0])))]).toEqual([])
})

test('the voter of an anonymous poll is taken for this account where the room catches up, for another where it is live', () => {
  const asked = answerPoll(live, pollOf(1, [0, 0]))
  const unnamed = { ...pollOf(2, [1, 0]), is_anonymous: true }
  expect([...pollsToAsk(told(asked, '', unnamed))]).toEqual([])
  expect([...pollsToAsk(told({ ...asked, status: 'catching-up' }, '', unnamed))]).toEqual([['poll', 2]])
})

test('an answer does not bring back the poll of a deleted message', () => {
  const deleted: RoomState = { ...live, messages: live.messages.map((one) => ({ ...one, is_deleted: true })) }
  expect(shown(answerPoll(deleted, pollOf(2, [1, 0])))).toBeUndefined()
  expect([...pollsToAsk(deleted)]).toEqual([])
})
