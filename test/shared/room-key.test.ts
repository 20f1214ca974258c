import { expect, test } from 'vitest'
import { alpha, conversationOf, dmOf, peerIn, roomKey, roomOfConversation, roomOfKey } from '#shared/kit/room-key'

const [me, other] = ['0x00aa', '0x00bb']
const rooms = [alpha, dmOf(me, other), { type: 'channel', id: 'a' }, { type: 'group', id: 'b' }] as const

test.each(rooms)('$type: a room is the one that its key and its conversation name', (room) => {
  const { conversationType, conversationId } = conversationOf(room, me)
  expect(roomOfKey(roomKey(room))).toEqual(room)
  expect(roomOfConversation(conversationType, conversationId, me)).toEqual(room)
})

test('a room between two is named by the other person, whoever asks', () => {
  const dm = dmOf(other, me)
  expect([peerIn(dm, me), peerIn(dm, other)]).toEqual([other, me])
  expect(conversationOf(dm, me)).toEqual({ conversationType: 'dm', conversationId: other })
  expect(peerIn({ type: 'group', id: dm.id }, me)).toBeNull()
})

test('a key without a colon that is no room without an id is the room of everybody', () => {
  expect(roomOfKey('nothing')).toEqual(alpha)
})
