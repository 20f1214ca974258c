import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { logged } from '#shared/api/moderation/moderation'
import { unreadChanged, unreadSnapshot } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { access, ephemeral, rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import type { Line } from '#test/support/line'
import { channelOf, moderates, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'
import { type OwnRedis, ownRedis } from './own-redis.ts'

let redis: OwnRedis
let server: Booted
let owner: Person
let here: Person
let there: Person
beforeAll(async () => {
  redis = await ownRedis()
  server = await boot({ environment: { REDIS_URL: redis.url, ADMINS: wallet('admin').address } })
  const [first, second] = server.urls
  owner = await person(server, 'owner', first)
  here = await person(server, 'here', first)
  there = await person(server, 'there', second)
})
afterAll(async () => {
  await server.close()
  await redis.kill()
})

async function listening(who: Person, room: RoomRef): Promise<Line> {
  const line = await who.socket('/rooms')
  await line.socket.emitWithAck('room:join', { room })
  return line
}
const isOnline = (line: Line, count: number) => line.hears(ephemeral, ({ online }) => online === count)

describe('with a client on each node', () => {
  test('typing is shown on the other, and ends with the message', async () => {
    const room = await channelOf(owner, here, there)
    const line = await listening(there, room)
    const types = (is: boolean) =>
      line.hears(ephemeral, ({ typing }) => typing.some(({ id }) => id === here.account) === is)
    await here.does('rest', messages.typing, { room, on: true })
    await types(true)
    line.forget()
    await here.does('socket', messages.send, { room, text: 'done' })
    await types(false)
  })

  test('people are counted once over all nodes, and no longer after they disconnect', async () => {
    const room = await channelOf(owner, here, there)
    const line = await listening(here, room)
    const abroad = await listening(there, room)
    await isOnline(line, 2)
    await isOnline(abroad, 2)
    const again = await listening(await person(server, 'here', there.url), room)
    await again.hears(ephemeral, ({ online }) => online === 2)
    abroad.socket.close()
    again.socket.close()
    line.forget()
    await isOnline(line, 1)
  })

  test('presence and the list of members include people connected to the other', async () => {
    const room = await channelOf(owner, here, there)
    const visitor = await person(server, 'visitor', there.url)
    const addresses = [visitor.account]
    await visitor.does('rest', rooms.join, { room })
    await visitor.line()
    expect(await here.does('rest', messages.presenceOf, { addresses })).toEqual({ [visitor.account]: true })
    const { members } = await here.does('rest', rooms.members, { room })
    expect(members.find(({ user_address }) => user_address === visitor.account)).toMatchObject({ online: true })
    await visitor.does('socket', messages.presence, { state: 'idle' })
    expect(await here.does('rest', messages.presenceOf, { addresses })).toEqual({ [visitor.account]: false })
  })

  test('a read mark set on one is sent to the devices on the other', async () => {
    const room = await channelOf(owner, here)
    const abroad = await (await person(server, 'here', there.url)).socket('/notifications')
    await abroad.hears(unreadSnapshot)
    const isNow = (unread: number) =>
      abroad.hears(unreadChanged, (told) => told.room.id === room.id && told.unread === unread)
    await owner.does('socket', messages.send, { room, text: 'unread' })
    await isNow(1)
    await here.does('rest', messages.read, { room, seq: 1_000 })
    await isNow(0)
  })

  test('a moderator of all rooms gets the events of a room that their node does not follow', async () => {
    const room = await channelOf(owner, here)
    const admin = await person(server, 'admin', there.url)
    const line = await admin.socket('/moderation')
    await line.socket.emitWithAck('mod:subscribe', { scope: 'global' })
    await moderates(owner, { room, action: 'warn', target: here.account })
    await line.hears(logged, (told) => told.room?.id === room.id)
    const elsewhere = await (await person(server, 'admin', owner.url)).socket('/moderation')
    const { data } = await elsewhere.socket.emitWithAck('mod:subscribe', { scope: 'global' })
    expect(data.moderators_online).toEqual([admin.account])
  })

  test('P6: a ban removes the banned person from the room on the other before it is acknowledged', async () => {
    const room = await channelOf(owner, here, there)
    const line = await listening(there, room)
    const started = Date.now()
    const { effects } = await moderates(owner, { room, action: 'ban', target: there.account, duration: '1h' })
    expect(effects.pending_nodes).toBe(0)
    expect(Date.now() - started).toBeLessThan(10_000)
    await line.hears(access, ({ state }) => state === 'banned')
    expect((await there.refused('rest', messages.send, { room, text: 'still here?' })).code).toBe('BANNED')
    await owner.does('socket', messages.send, { room, text: 'gone' })
    expect(line.log(room).some(({ type }) => type === 'message.created')).toBe(false)
  })

  test('a row of one is delivered on the other by a hint, without a read of the database', async () => {
    const room = await channelOf(owner, here, there)
    const line = await listening(there, room)
    const delays: number[] = []
    for (let at = 0; at < 10; at++) {
      const sent = await here.does('socket', messages.send, { room, text: `m${at}` })
      const acknowledged = Date.now()
      await line.follows(room, ({ seq }) => seq === sent.message.seq)
      delays.push(Date.now() - acknowledged)
    }
    delays.sort((one, other) => one - other)
    expect(delays[4]).toBeLessThan(100)
  })
})
