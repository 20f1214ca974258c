import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  countConnection,
  countOccupancy,
  joinOccupancy,
  type Occupancy,
  scheduleOccupancy,
} from '#server/domains/rooms/messages/occupancy'
import type { Node } from '#server/kernel/context'

const room = 'channel:crowded'
const here = 'here'
const there = 'there'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Two nodes that hear each other at once, as text; and when they were told of something. */
function twoNodes(toldAt: number[] = []) {
  const listeners = new Map<string, (word: unknown) => void>()
  const nodeOf = (id: string, other: string) =>
    ({
      id,
      state: new Map(),
      nodes: { live: () => new Set([here, there]) },
      peers: {
        listen: (_topic: string, listener: (word: unknown) => void) => {
          listeners.set(id, listener)
          return () => listeners.delete(id)
        },
        tell: (_topic: string, word: unknown) => {
          toldAt.push(Date.now())
          listeners.get(other)?.(JSON.parse(JSON.stringify(word)))
        },
      },
    }) as unknown as Node
  return [nodeOf(here, there), nodeOf(there, here)].map((node) => {
    const occupancy: Occupancy = joinOccupancy(node, room, () => {})
    return {
      occupancy,
      enter: (from: number, to: number) => {
        for (let at = from; at < to; at++) countConnection(node, room, `0x${at}`)
      },
      tell: () => scheduleOccupancy(node, room, occupancy),
      count: () => countOccupancy(node, room, occupancy),
    }
  })
}

test.each([
  ['a few', 3],
  ['a room', 600],
  ['a occupancy', 9_000],
])('who is on two nodes counts once: %s', (_, size) => {
  const [one, other] = twoNodes()
  if (!one || !other) throw new Error('There are two')
  one.enter(0, size)
  other.enter(size - 1, 2 * size)
  one.tell()
  other.tell()
  vi.advanceTimersByTime(5_000)
  expect([one.count(), other.count()]).toEqual([2 * size, 2 * size])
})

test('of more than ten thousand on another node only their number is known', () => {
  const [one, other] = twoNodes()
  if (!one || !other) throw new Error('There are two')
  one.enter(0, 10)
  other.enter(0, 10_001)
  one.tell()
  other.tell()
  vi.advanceTimersByTime(5_000)
  expect(one.count()).toBe(10_011)
  expect(other.count()).toBe(10_001)
})

test.each([
  ['few', 500, 1_000],
  ['a occupancy', 501, 5_000],
])('who comes and goes among %s is told together, after a while', (_, size, pause) => {
  const toldAt: number[] = []
  const [one] = twoNodes(toldAt)
  if (!one) throw new Error('There is one')
  one.enter(0, size)
  one.tell()
  vi.advanceTimersByTime(pause)
  const first = toldAt.splice(0).at(-1) ?? 0
  for (let at = 0; at < 10; at++) {
    one.tell()
    vi.advanceTimersByTime(pause / 20)
  }
  vi.advanceTimersByTime(pause)
  expect(toldAt.map((at) => at - first)).toEqual([pause])
})
