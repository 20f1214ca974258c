// Modes: embedded
import { expect, test } from 'vitest'
import { Members } from '#server/domains/rooms/room-state/model'
import { social } from '#shared/api/moderation/social'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { bootWith } from '#test/support/boot-with'
import { alpha, type Person, say } from '#test/support/people'
import { call } from '#test/support/wallet'

const { server, ada, bo } = await bootWith(['ada', 'bo'], { entry: 'in alpha' })
const standing = async (who: Person) => (await who.does('rest', inbox.alphaMembership, {})).membership
const isTime = (text: string | null | undefined) => Number.isFinite(Date.parse(text ?? ''))

test('how somebody stands in alpha: since when, whether it is silent, up to when they have read, and when they left', async () => {
  const joined = await standing(ada)
  expect(joined).toEqual({
    ...{ user_address: ada.account, notifications_muted: false, last_read_at: null, left_at: null },
    joined_at: expect.toSatisfy(isTime),
  })
  const first = await say(bo, alpha, 'The first')
  await say(bo, alpha, 'Another')
  await ada.does('rest', messages.read, { room: alpha, seq: first.seq })
  await ada.does('rest', social.mute, { conversationType: 'channel', conversationId: 'global' })
  expect(await standing(ada)).toEqual({ ...joined, notifications_muted: true, last_read_at: first.created_at })
  expect(await standing(bo)).toMatchObject({ user_address: bo.account, notifications_muted: false })
  await ada.does('rest', rooms.leave, { room: alpha })
  const left = await standing(ada)
  expect(left).toEqual({
    ...{ ...joined, notifications_muted: true, last_read_at: first.created_at },
    left_at: expect.toSatisfy(isTime),
  })
  expect(Date.parse(left?.left_at ?? '')).toBeGreaterThanOrEqual(Date.parse(left?.joined_at ?? ''))
  await say(bo, alpha, 'Behind their back')
  expect(await standing(ada)).toEqual(left)
  await ada.does('rest', rooms.join, { room: alpha })
  expect((await standing(ada))?.left_at).toBeNull()
})

test('of who never was in alpha nothing is known, and of others nothing is told', async () => {
  await Members.deleteOne({ user_address: bo.account })
  expect(await standing(bo)).toBeNull()
  expect((await bo.rest(`GET /api/alpha/membership?userAddress=${ada.account}`)).status).toBe(403)
  expect((await call(server.url, 'GET /api/alpha/membership')).status).toBe(401)
})
