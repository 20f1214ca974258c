import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasLink } from '#server/domains/moderation/verdict/steps'

const links = [
  'http://example.com',
  'see HTTPS://Example.COM/path?q=1#x now',
  'http://localhost:3000',
  'https://127.0.0.1/',
  'ftp://files.example.test/a',
  'hxxps://example.test',
  'www.example.test',
  '(www.example.test)',
  'example.com',
  'Example.COM!',
  'sub.domain.example.co.uk',
  'go to evil.xyz/free now',
  'join t.me/room',
  '[click](https://example.com)',
  'mail me at someone@example.com',
  'example。com',
  'example．com',
  'example｡com',
  'ｅｘａｍｐｌｅ．ｃｏｍ',
  'exam\u200bple.c\u200bom',
  'example[.]com',
  'example(dot)com',
  'example[dot]com',
  'пример.com',
  'пример.xn--p1ai',
  'xn--e1afmkfd.xn--80akhbyknj4f',
  'end of sentence example.net.',
  'javascript://comment',
  '[IMAGE]https://example.com/a.png',
]

const plain = [
  '',
  'hello',
  'Wait. What? ok...',
  'version 1.2.3',
  'node.js and index.ts',
  'costs $3.50 today',
  'e.g. this, i.e. that',
  'www.',
  'com net org',
  '.com',
  'a . com',
  'http:// ',
  'the company.community',
  'user_name.common',
  'javascript:alert(1)',
  '12:30',
  'a://',
]

/** What the check is known to miss, or to take for a link. */
const missed = ['example dot com', 'example .com', 'example.rare-top-level', '1.2.3.4/path']
const mistaken = ['socket.io', 'no space here.It works? no: here.co']

describe('links', () => {
  it.each(links)('finds %j', (text) => expect(hasLink(text)).toBe(true))
  it.each(plain)('passes %j', (text) => expect(hasLink(text)).toBe(false))
  it.each(missed)('is known to miss %j', (text) => expect(hasLink(text)).toBe(false))
  it.each(mistaken)('is known to take %j for a link', (text) => expect(hasLink(text)).toBe(true))

  it('finds a URL wherever it stands', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(hasLink(`${before} https://example.com ${after}`)).toBe(true)
      }),
    )
  })

  it.each([
    ['dots', '.'.repeat(50_000)],
    ['labels', 'a.'.repeat(25_000)],
    ['brackets', '['.repeat(50_000)],
    ['half brackets', '[ '.repeat(25_000)],
    ['almost www', 'www'.repeat(17_000)],
    ['punycode', 'xn--'.repeat(12_500)],
    ['one long label', `xn--${'a'.repeat(50_000)}`],
    ['slashes', ':/'.repeat(25_000)],
    ['zero width', 'a\u200b.'.repeat(15_000)],
  ])('is done at once with a long text of %s', (_, text) => {
    const started = performance.now()
    hasLink(text)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
