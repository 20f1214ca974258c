import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { repeatWork } from '#server/kernel/beat'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('work of whole seconds shares one timer, each in its own time, until it is stopped', () => {
  const [each, third, quick] = [vi.fn(), vi.fn(), vi.fn()]
  const stops = [repeatWork(1_000, each), repeatWork(3_000, third)]
  expect(vi.getTimerCount()).toBe(1)
  const stopQuick = repeatWork(250, quick)
  expect(vi.getTimerCount()).toBe(2)
  vi.advanceTimersByTime(9_000)
  expect([each, third, quick].map(({ mock }) => mock.calls.length)).toEqual([9, 3, 36])
  stopQuick()
  stops[0]?.()
  stops[0]?.()
  vi.advanceTimersByTime(3_000)
  expect([each, third, quick].map(({ mock }) => mock.calls.length)).toEqual([9, 4, 36])
  stops[1]?.()
  expect(vi.getTimerCount()).toBe(0)
})

test('work that stops other work, or itself, within a beat does not disturb the rest', () => {
  const last = vi.fn()
  const stopFirst = repeatWork(1_000, () => {
    stopFirst()
    stopSecond()
  })
  const second = vi.fn()
  const stopSecond = repeatWork(1_000, second)
  const stopLast = repeatWork(1_000, last)
  vi.advanceTimersByTime(2_000)
  expect([second.mock.calls.length, last.mock.calls.length]).toEqual([0, 2])
  stopLast()
  expect(vi.getTimerCount()).toBe(0)
})
