import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Random } from './random.ts'
import type { World } from './world.ts'

const milliseconds = 2_500
const latestMilliseconds = 150

/** Deletes everything in Redis. */
export async function wipe(port: number): Promise<void> {
  const client = new Redis({ port, maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  await client.flushall().catch(() => {})
  client.disconnect()
}

/** Publishes each message between nodes again after a delay, so that old messages follow new ones. */
export async function repeatMessages({ cluster: { redis }, history }: World, random: Random): Promise<void> {
  if (!redis) return
  const options = { port: redis.process.port, maxRetriesPerRequest: 1 }
  const [subscriber, publisher] = [new Redis(options), new Redis(options)]
  for (const client of [subscriber, publisher]) client.on('error', () => {})
  const own = new Map<string, number>()
  let repeated = 0
  subscriber.on('smessage', (channel: string, message: string) => {
    const mine = own.get(message) ?? 0
    own.set(message, Math.max(0, mine - 1))
    if (mine > 0) return
    own.set(message, 1)
    repeated++
    void pause(random.between(0, latestMilliseconds)).then(() => publisher.spublish(channel, message).catch(() => {}))
  })
  const end = Date.now() + milliseconds
  while (Date.now() < end) {
    const channels = (await publisher.call('PUBSUB', 'SHARDCHANNELS', '*').catch(() => [])) as string[]
    if (channels.length > 0) await subscriber.ssubscribe(...channels).catch(() => {})
    await pause(200)
  }
  subscriber.disconnect()
  await pause(latestMilliseconds)
  publisher.disconnect()
  history.add({
    t: history.now(),
    proc: 'repeater',
    op: 'fault',
    room: '',
    type: 'info',
    kind: 'F25',
    what: `${repeated}`,
  })
}
