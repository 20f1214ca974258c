import { spawnSync } from 'node:child_process'
import { get } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '#client/sdk/client'
import type { Client, LiveRoom } from '#client/sdk/types'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import type { RoomRef } from '#shared/kit/primitives'
import { build, programs } from '#test/support/programs'
import { freshDatabaseUri } from '#test/support/test-servers'
import { wallet } from '#test/support/wallet'
import { type Crew, startCrew } from './crew.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const long = 300_000
const uri = freshDatabaseUri() ?? ''
const Created = z.object({ message: z.object({ content: z.string() }) })
const crews: Crew[] = []
const clients: Client[] = []

beforeAll(build, long)
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
afterAll(async () => {
  for (const crew of crews) await crew.end()
})

/** One crew for all of them, in this order: what it is stopped with comes last. */
describe('several workers on one port', { timeout: long }, () => {
  let crew: Crew
  beforeAll(async () => {
    crew = await crewOf(2)
  }, long)

  test('are replaced one by one on SIGHUP, and no message is lost', async () => {
    const { room, lives, say } = await crowd(crew, 6)
    const old = crew.workers()
    expect(old).toHaveLength(2)
    const talk = say()
    await expect.poll(() => talk.acknowledged().length, { timeout: 30_000 }).toBeGreaterThan(50)

    crew.primary.kill('SIGHUP')
    const listening: number[] = []
    await expect
      .poll(
        async () => {
          listening.push(await crew.metric('plaza_workers'))
          return crew.workers().filter((pid) => old.includes(pid))
        },
        { timeout: 180_000 },
      )
      .toEqual([])
    expect(Math.min(...listening)).toBeGreaterThanOrEqual(2)
    talk.stop()
    await expect.poll(() => talk.waiting(), { timeout: 60_000 }).toEqual([])

    const stored = await textsOf(crew, room)
    expect(stored.toSorted()).toEqual(talk.said().toSorted())
    for (const live of lives) {
      await expect.poll(() => live.state.status, { timeout: 60_000 }).toBe('live')
      await expect.poll(() => tail(live), { timeout: 30_000 }).toEqual(stored.slice(-20))
    }
    expect(await crew.metric('plaza_workers')).toBe(2)
    expect(await crew.metric('plaza_workers_replaced_total')).toBe(0)
  })

  test('are replaced when one dies, and its clients reconnect to the others', async () => {
    const { room, say } = await crowd(crew, 6)
    const talk = say()
    await expect.poll(() => talk.acknowledged().length, { timeout: 30_000 }).toBeGreaterThan(50)

    const [victim, survivor] = crew.workers()
    if (!victim) throw new Error('There is no worker to kill.')
    process.kill(victim, 'SIGKILL')
    await expect.poll(() => crew.metric('plaza_workers_replaced_total'), { timeout: 30_000 }).toBe(1)
    await expect.poll(() => crew.metric('plaza_workers'), { timeout: 120_000 }).toBe(2)
    expect(crew.workers()).toContain(survivor)
    talk.stop()
    await expect.poll(() => talk.waiting(), { timeout: 60_000 }).toEqual([])
    expect((await textsOf(crew, room)).toSorted()).toEqual(talk.said().toSorted())
  })

  test('N74: what was handed to a worker that died before it took it is closed, and answered when asked again', async () => {
    await expect.poll(() => crew.workers().length).toBe(2)
    const [victim] = crew.workers()
    if (!victim) throw new Error('There is no worker to kill.')
    process.kill(victim, 'SIGSTOP')
    const asked = Array.from({ length: 8 }, () => ask(crew))
    // Each was accepted, and those of the other worker are answered.
    await expect.poll(async () => (await settledOf(asked)).length).toBe(7)
    process.kill(victim, 'SIGKILL')
    const answers = await within(5_000, Promise.all(asked))
    expect(answers.filter((status) => status !== 200)).toEqual([null])
    expect(await ask(crew)).toBe(200)
  })

  test('are stopped one by one: acknowledged messages are stored once, and the exit code is 0', async () => {
    await expect.poll(() => crew.metric('plaza_workers'), { timeout: 120_000 }).toBe(2)
    const { room, say } = await crowd(crew, 6)
    const talk = say()
    await expect.poll(() => talk.acknowledged().length, { timeout: 30_000 }).toBeGreaterThan(50)

    const began = Date.now()
    crew.primary.kill('SIGTERM')
    await expect.poll(() => crew.ops('/readyz')).not.toMatchObject({ status: 200 })
    expect(await crew.exited).toBe(0)
    expect(Date.now() - began).toBeLessThan(15_000)
    talk.stop()
    const acknowledged = talk.acknowledged()
    for (const client of clients.splice(0)) client.close()

    const stored = await textsOf(await crewOf(1), room)
    expect(acknowledged.filter((text) => !stored.includes(text))).toEqual([])
    expect(new Set(stored).size).toBe(stored.length)
  })
})

/** The status of an answer on a connection of its own; null where that was closed without one. */
const ask = ({ url }: Crew): Promise<number | null> =>
  new Promise((resolve) => {
    const request = get(`${url}/api/status`, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? null)
    })
    request.on('error', () => resolve(null))
  })

async function settledOf<T>(asked: readonly Promise<T>[]): Promise<T[]> {
  const open = Symbol('open')
  const now = await Promise.all(asked.map((one) => Promise.race([one, Promise.resolve(open)])))
  return now.filter((one) => one !== open) as T[]
}

const within = <T>(milliseconds: number, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => setTimeout(reject, milliseconds, new Error(`Nothing after ${milliseconds} ms.`))),
  ])

test('the embedded store belongs to one process', () => {
  const { status, stderr } = start(['--workers', '2'])
  expect(stderr.trim()).toBe('--workers above 1 needs MONGODB_URI: the embedded store belongs to one process.')
  expect(status).toBe(1)
})

function start(options: readonly string[]) {
  const { MONGODB_URI: _, ...env } = process.env
  return spawnSync(process.execPath, [programs.main, ...options], {
    cwd: root,
    env: { ...env, NODE_ENV: 'test' },
    encoding: 'utf8',
  })
}

async function crewOf(workers: number): Promise<Crew> {
  const crew = await startCrew(programs.main, workers, uri)
  crews.push(crew)
  return crew
}

let crowds = 0

/** Joins people to one channel, each with their own connection. */
async function crowd(crew: Crew, size: number) {
  const people = await Promise.all(Array.from({ length: size }, (_, at) => personOf(crew, `worker ${at}`)))
  const [owner, ...others] = people
  if (!owner) throw new Error('A crowd has somebody in it.')
  const { channel } = await owner.rooms.createChannel({ name: `Under load ${++crowds}` })
  const room: RoomRef = { type: 'channel', id: channel.id }
  for (const person of others) await person.rooms.join({ room })
  const lives = people.map((person) => person.room(room))
  for (const live of lives) await expect.poll(() => live.state.status, { timeout: 10_000 }).toBe('live')
  return { room, lives, say: () => talkOf(lives) }
}

async function personOf(crew: Crew, name: string): Promise<Client> {
  const client = createClient({ url: crew.url })
  clients.push(client)
  const { address, signMessage } = wallet(name)
  await client.signIn({ address, signMessage: (message) => signMessage({ message }) })
  return client
}

/** Everybody sends messages until stopped, reconnecting as needed. */
function talkOf(lives: readonly LiveRoom[]) {
  const said: string[] = []
  const isKnown = new Map<string, boolean>()
  const note = () => {
    for (const { state } of lives)
      for (const { content, local } of state.messages) if (local === 'sent') isKnown.set(content, true)
  }
  for (const live of lives) live.subscribe(note)
  const timer = setInterval(() => {
    for (const [at, live] of lives.entries()) {
      const text = `${at} says ${said.length}`
      said.push(text)
      live.send({ text })
    }
  }, 150)
  return {
    said: () => said,
    acknowledged: () => said.filter((text) => isKnown.has(text)),
    waiting: () => said.filter((text) => !isKnown.has(text)),
    stop: () => clearInterval(timer),
  }
}

/** Every stored message of a room, in order; fails if the log has a gap. */
async function textsOf(crew: Crew, room: RoomRef): Promise<string[]> {
  const reader = await personOf(crew, 'worker 0')
  const rows: RoomEvent[] = []
  for (let isComplete = false; !isComplete; ) {
    const page = await reader.messages.sync({ room, after_seq: rows.length })
    rows.push(...page.events)
    isComplete = page.complete
  }
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1))
  return rows.flatMap(({ type, data }) => (type === 'message.created' ? [Created.parse(data).message.content] : []))
}

const tail = ({ state }: LiveRoom) => state.messages.slice(-20).map(({ content }) => content)
