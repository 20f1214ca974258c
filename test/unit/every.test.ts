import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/work/every'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const logger = { warn: vi.fn() } as unknown as Node['logger']

test('work is repeated in its time, a second after there was more to do, and a second after it is woken', async () => {
  let isMore = false
  let wake = () => {}
  const work = vi.fn(async () => isMore)
  const stop = every({ logger }, 10_000, work, 'failed', (given) => {
    wake = given
  })
  const runsIn = async (milliseconds: number) => {
    work.mockClear()
    await vi.advanceTimersByTimeAsync(milliseconds)
    return work.mock.calls.length
  }
  expect(work).toHaveBeenCalledOnce()
  expect(await runsIn(9_900)).toBe(0)
  isMore = true
  expect(await runsIn(3_200)).toBe(4)
  isMore = false
  expect(await runsIn(1_000)).toBe(1)
  expect(await runsIn(7_000)).toBe(1)
  wake()
  wake()
  expect(await runsIn(900)).toBe(0)
  expect(await runsIn(200)).toBe(1)
  wake()
  stop()
  expect(await runsIn(60_000)).toBe(0)
})
