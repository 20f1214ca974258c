import { expect, test } from 'vitest'
import { answerReactors, reactorsToAsk } from '#client/sdk/reactors'
import { applyEvents, applyRows, emptyRoom } from '#client/sdk/timeline'
import type { RoomState } from '#client/sdk/types'
import type { Reaction } from '#shared/api/message'
import type { RoomEvent } from '#shared/api/room-events'
import { messageRow, room } from './tiny-server.ts'

const row = {
  ...messageRow({ seq: 1, n: 1, sender: 'ada', content: 'Look', client_msg_id: 'c1' }),
  reactions: { '👍': 2 },
}
const live: RoomState = { ...applyRows(emptyRoom(room), [row]), status: 'live' }
const reaction = (user_address: string, emoji: string): Reaction => ({
  ...{ id: `${user_address} ${emoji}`, message_id: row.id, channel_id: null, user_address, emoji },
  created_at: '2026-01-01T00:00:00.000Z',
})
const asked = (state: RoomState) => reactorsToAsk(state).map(({ id }) => id)
const told = (state: RoomState, by: string, emoji: string, on: boolean, counts: Record<string, number>): RoomState => {
  const actor = { id: by, name: by, role: null, isAgent: false }
  const data = { id: row.id, emoji, on, counts }
  const event = { room, epoch: 'first', seq: state.seq + 1, type: 'reaction.changed', at: '', actor, data }
  return applyEvents(state, [event as unknown as RoomEvent], 'bob')
}

test('N57: who reacted is asked for once, and followed by events from then on', () => {
  expect(asked(live)).toEqual([row.id])
  const known = answerReactors(live, [row.id], [reaction('bob', '👍'), reaction('cyd', '👍')])
  expect(asked(known)).toEqual([])
  const more = told(known, 'eve', '🎉', true, { '👍': 2, '🎉': 1 })
  const less = told(more, 'bob', '👍', false, { '👍': 1, '🎉': 1 })
  expect([asked(more), asked(less)]).toEqual([[], []])
  expect(less.reactors.get(row.id)).toEqual([
    { account: 'cyd', emoji: '👍' },
    { account: 'eve', emoji: '🎉' },
  ])
})

test('N57: what was told while an answer was under way is asked for again', () => {
  const later = told(live, 'eve', '🎉', true, { '👍': 2, '🎉': 1 })
  const answered = answerReactors(later, [row.id], [reaction('bob', '👍'), reaction('cyd', '👍')])
  expect(asked(answered)).toEqual([row.id])
})

test('N57: of a message that hundreds react to, the first hundred are enough', () => {
  const many = { ...row, reactions: { '👍': 300 } }
  const state = { ...applyRows(emptyRoom(room), [many]), status: 'live' } as const
  const some = Array.from({ length: 100 }, (_, at) => reaction(`0x${at}`, '👍'))
  expect(asked(answerReactors(state, [row.id], some))).toEqual([])
})
