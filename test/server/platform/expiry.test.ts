// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, moderates, over, type Person, people } from '#test/support/people'

// A term is a minute at the least, so the store's clock is stopped at the moments in question.
let stoppedAt: number | null = null
let server: Booted
let owner: Person
let member: Person
let other: Person

beforeAll(async () => {
  server = await bootStoppable()
  ;[owner, member, other] = await people(server, 'owner', 'member', 'other')
})
afterAll(() => server.close())

const bootStoppable = (): Promise<Booted> =>
  boot({
    nodes: 1,
    change: (platform) => {
      const now = () => stoppedAt ?? platform.database.now()
      return { ...platform, database: { ...platform.database, now } }
    },
  })

/** Acts upon one for a minute and upon the other for an hour; tells when the minute is over. */
async function endOf(action: 'ban' | 'mute', room: Awaited<ReturnType<typeof channelOf>>): Promise<number> {
  const { effects } = await moderates(owner, { room, action, target: member.account, duration: '1m' })
  await moderates(owner, { room, action, target: other.account, duration: '1h' })
  return Date.parse(effects.expires_at ?? '')
}

test('T67: a mute holds until its time, and not at it', async () => {
  const room = await channelOf(owner, member, other)
  const end = await endOf('mute', room)
  stoppedAt = end - 1
  for (const door of over)
    expect((await member.refused(door, messages.send, { room, text: 'not yet' })).code).toBe('MUTED')
  stoppedAt = end
  for (const door of over) {
    expect((await member.does(door, messages.send, { room, text: 'now' })).verdict.ok).toBe(true)
    expect((await other.refused(door, messages.send, { room, text: 'for an hour' })).code).toBe('MUTED')
  }
})

test('T67: a ban holds until its time, and not at it', async () => {
  const room = await channelOf(owner, member, other)
  const end = await endOf('ban', room)
  stoppedAt = end - 1
  for (const door of over)
    expect((await member.refused(door, messages.send, { room, text: 'not yet' })).code).toBe('BANNED')
  expect((await member.refused('rest', rooms.join, { room })).code).toBe('BANNED')
  stoppedAt = end
  await member.does('rest', rooms.join, { room })
  for (const door of over) {
    expect((await member.does(door, messages.send, { room, text: 'back' })).verdict.ok).toBe(true)
    expect((await other.refused(door, messages.send, { room, text: 'for an hour' })).code).toBe('BANNED')
  }
  expect((await other.refused('rest', rooms.join, { room })).code).toBe('BANNED')
})
