import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cut, withEllipsis } from '#shared/kit/cut'

describe('N24: a text is cut between characters as people see them', () => {
  it.each([
    ['hello', 3, 'hel'],
    ['hello', 5, 'hello'],
    ['a😀b', 2, 'a😀'],
    ['ab👨‍👩‍👧', 4, 'ab'],
    ['a🇺🇸🇩🇪', 4, 'a🇺🇸'],
    ['a👍🏽', 2, 'a'],
    ['ae\u0301', 2, 'a'],
    ['กำลัง', 3, 'กำ'],
    ['x❤️', 2, 'x'],
    ['\r\n', 1, '\r'],
    ['e\u0301\u0302', 2, 'e\u0301'],
    ['', 0, ''],
    ['abc', 0, ''],
  ])('%j to %d is %j', (text, most, left) => expect(cut(text, most)).toBe(left))

  it('what is left is the beginning, well-formed, and no longer than asked', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 })
    fc.assert(
      fc.property(text, fc.nat(40), (whole, most) => {
        const left = cut(whole, most)
        expect(whole.startsWith(left)).toBe(true)
        expect(left.isWellFormed()).toBe(true)
        expect([...left].length).toBeLessThanOrEqual(most)
        if ([...whole].length <= most) expect(left).toBe(whole)
      }),
    )
  })

  it('an ellipsis shows that something is left out', () => {
    expect(withEllipsis('hello', 5)).toBe('hello')
    expect(withEllipsis('hello you', 5)).toBe('hell…')
  })
})
