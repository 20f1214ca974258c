import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Fed, Feed } from '#client/sdk/feed'
import type { RoomEvent, RoomEventData } from '#shared/api/rooms/room-events'
import { room } from './tiny-server.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const PAGE = 3

/** A server with a log of `count` events, and a feed that follows it. */
function following(length: number) {
  const server = { epoch: 'first', length }
  const applied: string[] = []
  let resets = 0
  const eventOf = (seq: number, epoch = server.epoch): RoomEvent => ({
    room,
    epoch,
    seq,
    type: 'message.created',
    at: '',
    actor: { id: 'ada', name: 'ada', role: null, isAgent: false },
    data: {} as RoomEventData<'message.created'>,
  })
  const page = (after: number) => {
    const events = Array.from({ length: Math.min(PAGE, Math.max(0, server.length - after)) }, (_, at) =>
      eventOf(after + at + 1),
    )
    return { events, head_seq: server.length, complete: after + events.length >= server.length, epoch: server.epoch }
  }
  const call = async (name: string, input: object) => {
    const { after_seq, epoch, backlog, wait } = input as Partial<Record<string, number>> & { epoch?: string }
    const isOther = epoch !== undefined && epoch !== server.epoch
    if (isOther && name === 'messages.join') return { ...page(0), events: [], reset: true }
    if (wait !== undefined && (after_seq ?? 0) >= server.length) return new Promise(() => {})
    return page(after_seq ?? Math.max(0, server.length - (backlog ?? 0)))
  }
  const fed: Fed = {
    reset: () => void resets++,
    snapshot() {},
    openByRest: async () => {},
    events: (events) => void applied.push(...events.map(({ epoch, seq }) => `${epoch} ${seq}`)),
    catchingUp() {},
    caughtUp() {},
    refused() {},
  }
  const feed = new Feed(room, call, fed)
  return { server, feed, applied, eventOf, resets: () => resets }
}

const settle = () => vi.advanceTimersByTimeAsync(5_000)
const first = (...seqs: readonly number[]) => seqs.map((seq) => `first ${seq}`)

test('P5: a catch-up loads page after page up to the head', async () => {
  const { feed, applied } = following(8)
  feed.follow('socket')
  await settle()
  expect(applied).toEqual(first(1, 2, 3, 4, 5, 6, 7, 8))
})

test('P5: events that are pushed twice, late and in any order are applied once each and in order', async () => {
  const { server, feed, applied, eventOf } = following(1)
  feed.follow('socket')
  await settle()
  server.length = 5
  for (const seqs of [[3, 2], [2, 3], [5], [1]]) feed.deliver(seqs.map((seq) => eventOf(seq)))
  expect(applied).toEqual(first(1, 2, 3))
  await settle()
  expect(applied).toEqual(first(1, 2, 3, 4, 5))
})

test('P5: an event of another epoch is not applied as the next one', async () => {
  const { server, feed, applied, eventOf, resets } = following(2)
  feed.follow('socket')
  await settle()
  feed.deliver([eventOf(3, 'another')])
  expect(applied).toEqual(first(1, 2))
  await settle()
  // The server still has the same epoch, without new events.
  expect([applied, resets()]).toEqual([first(1, 2), 0])
  server.length = 3
  feed.deliver([eventOf(3)])
  expect(applied).toEqual(first(1, 2, 3))
})

test.each(['socket', 'poll'] as const)('P5: a new epoch makes the feed load everything again (%s)', async (source) => {
  const { server, feed, applied, eventOf, resets } = following(2)
  feed.follow('socket')
  await settle()
  feed.halt()
  Object.assign(server, { epoch: 'second', length: 4 })
  feed.follow(source)
  if (source === 'socket') feed.restart()
  await vi.advanceTimersByTimeAsync(0)
  feed.deliver([eventOf(4)])
  await vi.advanceTimersByTimeAsync(200)
  expect(resets()).toBe(1)
  expect(applied.slice(2).every((each) => each.startsWith('second'))).toBe(true)
  feed.halt()
})
