import { setTimeout as pause } from 'node:timers/promises'
import { type Numbers, readNumbers, risen } from './figures.ts'
import type { World } from './world.ts'

const most = 512
const atOnce = 32
const noticeMilliseconds = 3_000
const lookMilliseconds = 100
const mostTries = 4

/** Some readers stop reading during many messages: the server drops and counts them, and they reconnect and catch up. */
export async function stall(world: World): Promise<void> {
  const { flood, breaches } = world
  if (!flood) return
  for (let tries = 0; tries < mostTries; tries++) {
    const dropped = await stallOnce(world, flood)
    flood.dropped += dropped
    if (dropped > 0) return
  }
  breaches.push('F15: of those who did not read nobody was dropped')
}

/** The number of dropped readers; fewer than stalled if a node was stopped. */
async function stallOnce({ cluster }: World, { sender, readers }: NonNullable<World['flood']>): Promise<number> {
  const look = () => Promise.all(cluster.nodes.map((node) => readNumbers(node).catch((): Numbers => new Map())))
  const before = await look()
  const dropped = async () =>
    (await look()).reduce((sum, now, at) => sum + risen(before[at], now, 'plaza_slow_consumers_total'), 0)
  await Promise.all(readers.map((reader) => reader.stall()))
  try {
    for (let sent = 0; sent < most; sent += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, () => sender.say()))
      if ((await dropped()) === readers.length) return readers.length
    }
    const end = Date.now() + noticeMilliseconds
    while (Date.now() < end && (await dropped()) < readers.length) await pause(lookMilliseconds)
    return await dropped()
  } finally {
    for (const reader of readers) reader.wake()
  }
}
