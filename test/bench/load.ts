import { setTimeout as sleep } from 'node:timers/promises'
import type { Crowd } from './crowd.ts'

export interface Saturated {
  acknowledgedPerSecond: number
  deliveriesPerSecond: number
  deliveries: number
  driverShare: number
}
export interface Paced {
  messages: number
  ack: Percentiles
  last: Percentiles
}
export interface Percentiles {
  p50: number
  p99: number
}

const words =
  'the tide a lamp warm bread two chairs along river under slow music north window paper garden seven stairs'.split(' ')
/** Texts of 60 to 200 characters. */
const texts = Array.from({ length: 100 }, (_, at) => textOf(at, 60 + ((at * 37) % 141)))

/** A text of the given length, different for each number. */
export function textOf(number: number, length: number): string {
  let text = ''
  for (let word = number; text.length < length; word++) text += `${words[(word * 7 + number) % words.length]} `
  return text.slice(0, length).trim()
}

export const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0

export const percentiles = (values: readonly number[]): Percentiles => {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}

/** Full load: every sender keeps a fixed number of sends unacknowledged. */
export async function saturate(crowd: Crowd, { senders, window, warmSeconds, slices }: Plan): Promise<Saturated> {
  crowd.begin()
  let isOn = true
  let texted = 0
  const send = async (sender: number) => {
    while (isOn) await crowd.send(sender, texts[texted++ % texts.length] ?? '')
  }
  const loops = Array.from({ length: senders * window }, (_, at) => send(at % senders))
  await sleep(warmSeconds * 1_000)
  const acknowledged: number[] = []
  const delivered: number[] = []
  const usedBefore = process.cpuUsage()
  const startedAt = performance.now()
  for (let slice = 0; slice < slices; slice++) {
    const before = { at: performance.now(), acknowledged: crowd.acknowledged, delivered: crowd.delivered }
    await sleep(1_000)
    const seconds = (performance.now() - before.at) / 1_000
    acknowledged.push((crowd.acknowledged - before.acknowledged) / seconds)
    delivered.push((crowd.delivered - before.delivered) / seconds)
  }
  const { user, system } = process.cpuUsage(usedBefore)
  const driverShare = (user + system) / 1_000 / (performance.now() - startedAt)
  isOn = false
  await Promise.race([Promise.all(loops), sleep(20_000)])
  await crowd.settle()
  return {
    acknowledgedPerSecond: median(acknowledged),
    deliveriesPerSecond: median(delivered),
    deliveries: crowd.delivered,
    driverShare,
  }
}

export interface Plan {
  senders: number
  window: number
  warmSeconds: number
  slices: number
}

/** A constant rate of sends a second. */
export async function pace(crowd: Crowd, perSecond: number, seconds: number): Promise<Paced> {
  crowd.begin()
  const total = Math.max(5, Math.floor(perSecond * seconds))
  await inTime(total, perSecond, (at) => crowd.send(at % crowd.size, texts[at % texts.length] ?? ''))
  await crowd.settle()
  return heardBy([crowd])
}

/** A constant rate over many rooms, of which a fixed number is active at any moment, in turn. */
export async function scatter(
  crowds: readonly Crowd[],
  { perSecond, seconds, talking, turnSeconds }: Scatter,
): Promise<Paced> {
  for (const crowd of crowds) crowd.begin()
  await inTime(perSecond * seconds, perSecond, async (at) => {
    const turn = Math.floor(at / (perSecond * turnSeconds))
    const crowd = crowds[(turn * talking + (at % talking)) % crowds.length]
    await crowd?.send(Math.floor(at / talking) % crowd.size, texts[at % texts.length] ?? '')
  })
  await Promise.all(crowds.map((crowd) => crowd.settle()))
  return heardBy(crowds)
}

export interface Scatter {
  perSecond: number
  seconds: number
  /** Rooms. */
  talking: number
  turnSeconds: number
}

async function inTime(total: number, perSecond: number, send: (at: number) => Promise<void>): Promise<void> {
  const startedAt = performance.now()
  const sends: Promise<void>[] = []
  while (sends.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond) + 1)
    while (sends.length < due) sends.push(send(sends.length))
    await sleep(1)
  }
  await Promise.race([Promise.all(sends), sleep(20_000)])
}

const heardBy = (crowds: readonly Crowd[]): Paced => ({
  messages: crowds.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
  ack: percentiles(crowds.flatMap(({ ackMilliseconds }) => ackMilliseconds)),
  last: percentiles(crowds.flatMap(({ lastMilliseconds }) => lastMilliseconds)),
})
