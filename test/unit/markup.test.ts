import { describe, expect, test } from 'vitest'
import { drawnOf, lineOfWords, markupOf, nestingOf } from '#shared/kit/markup'
import { addressesIn, isWebAddress, unsaidHost } from '#shared/kit/web-address'

describe('N20: an address', () => {
  test.each(['https://a', 'HTTP://a.b/c', 'https://a.b/@c', 'https://a.b?c@d', 'https://a.b:1/'])('%j is one', (text) =>
    expect(isWebAddress(text)).toBe(true),
  )
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

test.each([
  ['https://a.b/[x]', 'https://a.b/[x]'],
  ['https://a.b/[x].', 'https://a.b/[x]'],
  ['(https://a.b/[[x]])', 'https://a.b/[[x]]'],
  ['https://a.b/[x]]', 'https://a.b/[x]'],
  ['*https://a.b/[x]* c', 'https://a.b/[x]'],
  ['[c](https://a.b/x)]', 'https://a.b/x'],
])('N32: the address in %j has the brackets that it opens', (text, address) => {
  const source = `see ${text} now`
  expect(drawnOf(source)?.targets).toEqual([address])
  expect(JSON.stringify(markupOf(source))).toContain(`"value":"${text.startsWith('[') ? 'c' : address}"`)
})

describe('T26: whereto an address leads', () => {
  test.each([
    'https://bank.example@evil.example/',
    'https://bank.example:secret@evil.example/',
    'https://@evil.example/',
    'http://a@b@evil.example',
    'https://bank.example\t@evil.example',
    'https://bank.example%40evil.example',
    'https://bank.example\uff20evil.example',
    'https://bank.example\\@evil.example',
  ])('is not linked where it names a user: %j', (text) => {
    expect(isWebAddress(text)).toBe(false)
    expect(addressesIn(`see ${text} now`).map(({ start, end }) => `see ${text} now`.slice(start, end))).not.toContain(
      text,
    )
  })

  test.each([
    ['https://evil.example/a', 'https://bank.example', 'evil.example'],
    ['https://evil.example/a', 'bank.example', 'evil.example'],
    ['https://evil.example/a', 'here', 'evil.example'],
    ['https://evil.example/a', 'https://evil.example', 'evil.example'],
    ['https://evil.example/bank.example', 'bank.example', 'evil.example'],
    ['https://evil.example:8443/', 'https://evil.example', 'evil.example:8443'],
    ['https://evil.example/', 'https://evil.example @bank.example', 'evil.example'],
    ['https://b\u0430nk.example', 'https://b\u0430nk.example', 'xn--bnk-6cd.example'],
    ['http://2130706433/', 'http://2130706433/', '127.0.0.1'],
    ['https://Evil.example/a', 'https://Evil.example/a', null],
    ['https://evil.example/a', 'evil.example/a', null],
    ['https://evil.example/', 'https://evil.example', null],
  ])('%j under the words %j is %j', (address, words, host) => expect(unsaidHost(address, words)).toBe(host))
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

test.each([
  ['# Agenda', 'Agenda'],
  ['### Agenda ###\nfor **today**', 'Agenda for today'],
  ['#tea and # tea', '#tea and # tea'],
  ['#1 of 3', '#1 of 3'],
  ['> quoted\n> # by me\n\nanswer', 'quoted by me answer'],
  ['* one\n* two\n  1. three', 'one two three'],
  ['+ one\n\n---\n\n+ two', 'one two'],
  ['```ts\nconst a = `b`\n```\nend', 'const a = `b` end'],
  ['~~~\nopen to the end', 'open to the end'],
  ['| a | b |\n| --- | :-: |\n| 1 | *2* |', 'a b 1 2'],
  ['a | b\n--- | ---\n1 | 2', 'a b 1 2'],
  ['a | b, -- or c', 'a | b, -- or c'],
  ['5 - 3 = 2 * 1', '5 - 3 = 2 * 1'],
  ['***', ''],
  ['see [the page](https://plaza.example) now', 'see the page now'],
  ['@[Ada](0198a2f0-0000-7000-8000-000000000001) # hello', '@Ada # hello'],
])('N58: of %j the words are %j in one line', (text, words) => {
  expect(lineOfWords(text)).toBe(words)
})
