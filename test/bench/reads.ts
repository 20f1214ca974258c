import { setTimeout as sleep } from 'node:timers/promises'
import { call, connect } from '#test/support/wallet'
import { percentiles } from './load.ts'
import { startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { people, smallRooms } from './room.ts'

const [readers, connections, senders] = [5, 10, 5]
const [readsPerSecond, sendsPerSecond] = [20, 4]
const stored = 300
const patienceMilliseconds = 20_000

/** How long a message waits for its answer while five people read whole pages over ten connections each, as fast as they may ask. */
export async function measureReads(report: Report, seconds: number): Promise<void> {
  try {
    const { url } = await startPlaza()
    const times = await flood(url, seconds)
    const name = 'an answer to a message while 1,000 pages a second are asked for, p99 ms'
    report.tell({ nodes: 1, store: 'embedded', name, value: percentiles(times).p99, target: 250 })
  } finally {
    await stopAll()
  }
}

/** Milliseconds of each answer to a message. */
export async function flood(url: string, seconds: number): Promise<number[]> {
  const everybody = await people(url, readers + senders)
  const [id = ''] = await smallRooms(url, everybody, 1, everybody.length)
  const room = { type: 'channel', id } as const
  for (let at = 0; at < stored; at++)
    await call(
      url,
      `POST /api/channels/${id}/messages`,
      { content: `${at} ${'words '.repeat(20)}` },
      everybody[0]?.token,
    )
  const asking = everybody
    .slice(senders)
    .flatMap(({ token }) => Array.from({ length: connections }, () => connect(url, '/rooms', token)))
  const sending = everybody.slice(0, senders).map(({ token }) => connect(url, '/rooms', token))
  await Promise.all(
    [...asking, ...sending].map(
      (socket) => new Promise<void>((resolve) => socket.once('session:ready', () => resolve())),
    ),
  )
  const timers = asking.map((socket) =>
    setInterval(() => socket.emit('room:history', { room, limit: 100 }, () => undefined), 1_000 / readsPerSecond),
  )
  const times: number[] = []
  const waiting: Promise<unknown>[] = []
  for (let at = 0; at < seconds * senders * sendsPerSecond; at++) {
    const began = performance.now()
    const answer = sending[at % senders]
      ?.timeout(patienceMilliseconds)
      .emitWithAck('message:send', { room, text: `Message ${at}` })
      .catch(() => null)
    waiting.push(
      Promise.resolve(answer).then((given) => times.push(given?.ok ? performance.now() - began : patienceMilliseconds)),
    )
    await sleep(1_000 / (senders * sendsPerSecond))
  }
  for (const timer of timers) clearInterval(timer)
  await Promise.all(waiting)
  for (const socket of [...asking, ...sending]) socket.disconnect()
  return times
}
