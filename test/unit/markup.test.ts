import { describe, expect, test } from 'vitest'
import { addressesIn, isWebAddress } from '#shared/kit/addresses'
import { drawnOf, nestingOf } from '#shared/kit/markup'

describe('N20: an address', () => {
  test.each(['https://a', 'HTTP://a.b/c'])('%j is one', (text) => expect(isWebAddress(text)).toBe(true))
  test.each(['http:a.b', 'https:/a.b', 'http:\\\\a.b', 'https:///a.b', '//a.b', 'https://', 'javascript:a'])(
    '%j is none',
    (text) => expect(isWebAddress(text)).toBe(false),
  )
  test.each([
    ['see https://a.b/c, or', ['https://a.b/c']],
    ['(https://a.b/c_(d))', ['https://a.b/c_(d)']],
    ["'https://a.b/it's'", ["https://a.b/it's"]],
    ['[https://a.b/c]', ['https://a.b/c']],
    ['https://a.b/?c&copy;', ['https://a.b/?c']],
    ['ahttps://a.b', []],
    ['http:a.b', []],
  ])('is found in %j', (text, found) => {
    expect(addressesIn(text).map(({ start, end }) => text.slice(start, end))).toEqual(found)
  })
})

/** Of the processor, whatever else runs. */
const ceilingMilliseconds = 1_000
const patterns = ['> - 1. a\n', '> - a\n', '*a_ ', '[[a](b)', '[a](http://b) ', '*_', 'a&', '<http://a', 'http://a_b*']
const ends = ['http://a.b/)', '&amp;', '[http://a.b ', '<!--', '<a', '  - a\n', '> ```\n', '`a``', '\\*']
test.each([...patterns, ...ends])('N20: a text of %j is read at once', (part) => {
  for (const length of [100, 300, 1_000, 3_000, 10_000]) {
    const text = part.repeat(length / part.length)
    const started = process.cpuUsage()
    drawnOf(text)
    addressesIn(text)
    nestingOf(text)
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(ceilingMilliseconds)
  }
})
