import { expect, test } from 'vitest'
import { endOfWords } from '#server/domains/agents/agent-rooms/answers'

test('words end behind the last white space that is new', () => {
  expect(endOfWords('Good day to', 0)).toBe(9)
  expect(endOfWords('Good day ', 0)).toBe(9)
  expect(endOfWords('Good\nday', 5)).toBeNull()
  expect(endOfWords('Good', 0)).toBeNull()
  expect(endOfWords('', 0)).toBeNull()
})

test('a word of a million letters is looked through once', () => {
  const began = performance.now()
  expect(endOfWords(`${'a'.repeat(1_000_000)} b`, 0)).toBe(1_000_001)
  expect(endOfWords(`b ${'a'.repeat(1_000_000)}`, 0)).toBe(2)
  expect(performance.now() - began).toBeLessThan(5_000)
})
