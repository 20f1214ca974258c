import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Outbox } from '#client/sdk/outbox'
import { memoryStorage } from '#client/sdk/storage'
import { AppError } from '#shared/errors'
import { messageRow, room } from './tiny-server.ts'

const other = { type: 'channel' as const, id: 'other' }
const outcomes = ['done', 'lost before', 'lost after', 'busy', 'refused'] as const
type Outcome = (typeof outcomes)[number]

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A server that stores one message for each id, and fails as the test demands. */
function world(planned: Outcome[], storage = memoryStorage()) {
  const kept: string[] = []
  const refused: string[] = []
  const tries = new Map<string, Set<string>>()
  const outbox = new Outbox({
    storage,
    now: Date.now,
    changed() {},
    accepted() {},
    async send({ client_msg_id, draft: { text } }) {
      tries.set(text, (tries.get(text) ?? new Set()).add(client_msg_id))
      const outcome = planned.shift() ?? 'done'
      await Promise.resolve()
      if (outcome === 'refused') refused.push(text)
      if (outcome === 'refused') throw new AppError('MUTED', { verdict: { ok: false } })
      if (outcome === 'busy') throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 2 })
      if (outcome === 'lost before') throw new TypeError('fetch failed')
      if (!kept.includes(text)) kept.push(text)
      if (outcome === 'lost after') throw new AppError('SERVICE_UNAVAILABLE')
      return messageRow({ seq: kept.length, n: kept.length, sender: 'bob', content: text, client_msg_id })
    },
  })
  return { outbox, kept, refused, tries, storage }
}

describe('a queued message', () => {
  test('arrives once and in order, whichever requests fail', async () => {
    const plans = fc.array(fc.constantFrom(...outcomes), { maxLength: 20 })
    const openings = fc.array(fc.boolean(), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(plans, openings, async (planned, open) => {
        const { outbox, kept, refused, tries } = world([...planned])
        outbox.belongTo('bob')
        const texts = Array.from({ length: 8 }, (_, index) => `${index}`)
        for (const [index, text] of texts.entries()) {
          outbox.add(room, { text })
          outbox.setOpen(open[index] ?? true)
          await vi.advanceTimersByTimeAsync(100)
        }
        outbox.setOpen(true)
        await vi.advanceTimersByTimeAsync(600_000)
        expect(kept).toEqual([...kept].sort())
        expect(new Set([...kept, ...refused])).toEqual(new Set(texts))
        for (const ids of tries.values()) expect(ids.size).toBe(1)
        expect(outbox.pendingOf('channel:plaza').every(({ status }) => status === 'refused')).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  test('of one room does not wait for other rooms', async () => {
    const { outbox, kept } = world(['busy'])
    outbox.belongTo('bob')
    outbox.setOpen(true)
    outbox.add(room, { text: 'held up' })
    outbox.add(other, { text: 'free' })
    await vi.advanceTimersByTimeAsync(100)
    expect(kept).toEqual(['free'])
  })

  test('from before the sign-in belongs to the account that signs in, and to no later one', async () => {
    const { outbox, kept, storage } = world([])
    outbox.add(room, { text: 'early' })
    outbox.belongTo('bob')
    outbox.belongTo(null)
    outbox.belongTo('eve')
    outbox.setOpen(true)
    await vi.advanceTimersByTimeAsync(100)
    expect(kept).toEqual([])
    const later = world([], storage)
    later.outbox.belongTo('bob')
    later.outbox.setOpen(true)
    await vi.advanceTimersByTimeAsync(100)
    expect(later.kept).toEqual(['early'])
  })

  test('P2: that is retried by the user has the key of the first try', async () => {
    const { outbox, kept, tries } = world(['refused', 'lost after'])
    outbox.belongTo('bob')
    outbox.setOpen(true)
    const { client_msg_id } = outbox.add(room, { text: 'again' })
    await vi.advanceTimersByTimeAsync(100)
    outbox.retry(client_msg_id)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([...(tries.get('again') ?? [])]).toEqual([client_msg_id])
    expect(kept).toEqual(['again'])
  })

  test('that is discarded is neither sent nor stored', async () => {
    const { outbox, kept, storage } = world([])
    outbox.belongTo('bob')
    const { client_msg_id } = outbox.add(room, { text: 'never mind' })
    outbox.discard(client_msg_id)
    outbox.setOpen(true)
    await vi.advanceTimersByTimeAsync(100)
    expect(kept).toEqual([])
    expect(storage.getItem('plaza:outbox:bob')).toBeNull()
  })
})
