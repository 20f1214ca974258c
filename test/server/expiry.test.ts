import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '#server/app'
import { readConfig } from '#server/config'
import { openPlatform } from '#server/platform'
import { messages } from '#shared/api/messages'
import { rooms } from '#shared/api/rooms'
import type { Booted } from '#test/support/boot'
import { channelOf, moderates, over, type Person, person } from '#test/support/people'
import { freshDatabaseUri } from '#test/support/test-servers'

// A term is a minute at the least, so the store's clock is stopped at the moments in question.
let stoppedAt: number | null = null
let server: Booted
let owner: Person
let member: Person
let other: Person

beforeAll(async () => {
  server = await bootStoppable()
  const people = await Promise.all(['owner', 'member', 'other'].map((name) => person(server, name)))
  ;[owner, member, other] = people as [Person, Person, Person]
})
afterAll(() => server.close())

async function bootStoppable(): Promise<Booted> {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-'))
  const uri = freshDatabaseUri()
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: directory,
    DEMO: 'off',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_SCALE: '1000',
    PUBLIC_URL: 'http://localhost:3000',
    ...(uri ? { MONGODB_URI: uri } : {}),
  })
  const platform = await openPlatform(config)
  await platform.database.buildIndexes()
  const now = () => stoppedAt ?? platform.database.now()
  const app = await createApp(config, { ...platform, database: { ...platform.database, now } })
  return {
    url: app.url,
    urls: [app.url],
    opsUrl: app.opsUrl,
    apps: [app],
    async close() {
      await app.close()
      await platform.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

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
