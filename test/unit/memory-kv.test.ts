import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryKv } from '#server/ports/kv/memory'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a clock that was ahead, and is set back, frees nothing', async () => {
  const kv = memoryKv()
  const [at, hour] = [1_000_000_000, 3_600_000]
  await kv.slide('ahead', 1, hour, at + 10 * hour)
  expect((await kv.slide('a', 1, hour, at)).allowed).toBe(true)
  vi.advanceTimersByTime(60_000)
  expect((await kv.slide('a', 1, hour, at + 60_000)).allowed).toBe(false)
  await kv.close()
})
