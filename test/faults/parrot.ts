import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Random } from './random.ts'
import type { World } from './world.ts'

const milliseconds = 2_500
const latestMilliseconds = 150

/** Takes everything out of Redis. */
export async function wipe(port: number): Promise<void> {
  const client = new Redis({ port, maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  await client.flushall().catch(() => {})
  client.disconnect()
}

/** Says again what nodes tell each other over Redis: each message twice, the second late, so that old ones follow new ones. */
export async function parrot({ cluster: { redis }, history }: World, random: Random): Promise<void> {
  if (!redis) return
  const options = { port: redis.process.port, maxRetriesPerRequest: 1 }
  const [ear, beak] = [new Redis(options), new Redis(options)]
  for (const client of [ear, beak]) client.on('error', () => {})
  const own = new Map<string, number>()
  let repeated = 0
  ear.on('smessage', (channel: string, message: string) => {
    const mine = own.get(message) ?? 0
    own.set(message, Math.max(0, mine - 1))
    if (mine > 0) return
    own.set(message, 1)
    repeated++
    void pause(random.between(0, latestMilliseconds)).then(() => beak.spublish(channel, message).catch(() => {}))
  })
  const end = Date.now() + milliseconds
  while (Date.now() < end) {
    const channels = (await beak.call('PUBSUB', 'SHARDCHANNELS', '*').catch(() => [])) as string[]
    if (channels.length > 0) await ear.ssubscribe(...channels).catch(() => {})
    await pause(200)
  }
  ear.disconnect()
  await pause(latestMilliseconds)
  beak.disconnect()
  history.add({
    t: history.now(),
    proc: 'parrot',
    op: 'fault',
    room: '',
    type: 'info',
    kind: 'F25',
    what: `${repeated}`,
  })
}
