import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '#client/sdk/client'
import type { Client } from '#client/sdk/types'
import type { RoomRef } from '#shared/kit/primitives'
import { build, programs } from '#test/support/programs'
import { freshDatabaseUri } from '#test/support/test-servers'
import { signIn, wallet } from '#test/support/wallet'
import { type Crew, startCrew } from './crew.ts'

const accounts = 4
const connections = 24
/** For a machine that does much else; `npm run test:faults` measures how long a thousand take. */
const patience = { timeout: 90_000 }

let crew: Crew
const clients: Client[] = []
beforeAll(async () => {
  build()
  crew = await startCrew(programs.main, 2, freshDatabaseUri() ?? '')
}, 300_000)
afterAll(async () => {
  for (const client of clients) client.close()
  await crew.end()
})

// Costs seconds, as processes are started and killed.
test('P16: a crowd whose node is killed is back on another, and misses nothing', async () => {
  const tokens = await Promise.all(
    Array.from({ length: accounts }, async (_, at) => (await signIn(crew.url, wallet(`crowd ${at}`))).sessionToken),
  )
  for (let at = 0; at < connections; at += 1)
    clients.push(createClient({ url: crew.url, token: tokens[at % accounts] ?? '' }))
  const [speaker, ...others] = clients.slice(0, accounts)
  if (!speaker) throw new Error('A crowd has somebody in it.')
  const { channel } = await speaker.rooms.createChannel({ name: 'A crowd' })
  const room: RoomRef = { type: 'channel', id: channel.id }
  for (const other of others) await other.rooms.join({ room })
  const lives = clients.map((client) => client.room(room))
  const areBack = () => lives.every(({ state }) => state.status === 'live')
  await expect.poll(areBack, patience).toBe(true)

  const [victim] = crew.workers()
  if (!victim) throw new Error('There is no worker to kill.')
  process.kill(victim, 'SIGKILL')
  await expect.poll(areBack, patience).toBe(false)
  await expect.poll(areBack, patience).toBe(true)
  await speaker.messages.send({ room, text: 'Is everybody here?' })
  const last = () => new Set(lives.map(({ state }) => state.messages.at(-1)?.content))
  await expect.poll(last, patience).toEqual(new Set(['Is everybody here?']))
})
