// Modes: embedded
import { expect, test, vi } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { bootWith } from '#test/support/boot-with'
import { channelOf, moderates, say } from '#test/support/people'

const { server, owner, member, other } = await bootWith(['owner', 'member', 'other'])

/** Time that passes for this process, whatever the clock of the store shows. */
let passed = 0
const steady = performance.now.bind(performance)
vi.spyOn(performance, 'now').mockImplementation(() => steady() + passed)
const pass = (seconds: number) => {
  passed += seconds * 1_000
}

const hour = 3_600
const degraded = async () => (await (await fetch(`${server.opsUrl}/readyz`)).json()) as object

test('N71: /readyz names the clock for as long as its step was, and is ready all the same', async () => {
  const [well, stepped] = [[], ['clock']].map((degraded) => ({ ok: true, reason: null, degraded }))
  expect(await degraded()).toEqual(well)
  server.setAhead(hour)
  expect(await degraded()).toEqual(stepped)
  server.setAhead(0)
  expect(await degraded()).toEqual(stepped)
  const later = async (seconds: number) => {
    server.setAhead(seconds)
    passed = seconds * 1_000
    return degraded()
  }
  expect(await later(hour - 60)).toEqual(stepped)
  expect(await later(hour + 1)).toEqual(well)
  await later(0)
})
const slowed = async () => {
  const room = await channelOf(owner, member, other)
  await moderates(owner, { room, action: 'rules', patch: { rules: { slow_mode_seconds: 10 } } })
  return room
}
/** The clock goes forward, something is written in the room, and the clock goes back. */
const step = async (room: Awaited<ReturnType<typeof channelOf>>, act: () => Promise<unknown>) => {
  server.setAhead(hour)
  await act()
  server.setAhead(0)
  await say(owner, room, 'The clock is right again')
}
const secondsFromNow = (time: string | null) => (Date.parse(time ?? '') - Date.now()) / 1_000

test('N71: slow mode holds nobody longer than its interval, though the clock has stepped forward and back', async () => {
  const room = await slowed()
  await step(room, () => say(member, room, 'From an hour ahead'))
  for (let message = 0; message < 3; message++) {
    const refused = await member.refused('rest', messages.send, { room, text: 'too soon' })
    expect(refused).toMatchObject({ code: 'SLOW_MODE', retryAfter: expect.any(Number) })
    expect(refused.retryAfter).toBeLessThanOrEqual(10)
    expect(refused.retryAfter).toBeGreaterThan(5)
    pass(10)
    const { next_send_at } = await member.does('rest', messages.send, { room, text: `message ${message}` })
    expect(secondsFromNow(next_send_at ?? null)).toBeLessThanOrEqual(10)
  }
  const { me } = await member.does('socket', messages.join, { room })
  expect(secondsFromNow(me.next_send_at)).toBeLessThanOrEqual(10)
})

test('N71: a mute and a ban that are given while the room is ahead of the clock end when their time is up', async () => {
  const room = await slowed()
  await step(room, () => say(other, room, 'From an hour ahead'))
  await moderates(owner, { room, action: 'mute', target: member.account, duration: '5m' })
  await moderates(owner, { room, action: 'ban', target: other.account, duration: '1h' })
  pass(4 * 60)
  expect(await member.refused('rest', messages.send, { room, text: 'Early' })).toMatchObject({ code: 'MUTED' })
  pass(60)
  await say(member, room, 'Here again')
  expect(await other.refused('rest', rooms.join, { room })).toMatchObject({ code: 'BANNED' })
  pass(55 * 60)
  await other.does('rest', rooms.join, { room })
})
