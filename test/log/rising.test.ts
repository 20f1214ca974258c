import { expect, test } from 'vitest'
import { risingNumber } from '#server/log/view'

test('M52: a rising value is raised by higher numbers only, and cannot be set', () => {
  const mark = risingNumber(3)
  for (const [to, at] of [
    [5, 5],
    [4, 5],
    [5, 5],
    [Number.NaN, 5],
    [6, 6],
  ] as const) {
    mark.raise(to)
    expect(mark.at).toBe(at)
  }
  expect(() => Object.assign(mark, { at: 1 })).toThrow(TypeError)
  expect(mark.at).toBe(6)
})
