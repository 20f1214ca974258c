import { expect, test } from 'vitest'
import { disguiseOf, looksIn } from '#server/domains/people/accounts/names'
import { uniqueFormOf } from '#server/domains/rooms/rooms/names'

test.each([
  ['Persian', 'علی\u200cرضا'],
  ['Sinhala', 'ශ්\u200dරී ලංකා'],
  ['Bengali', 'র\u200d্যাব'],
  ['Bengali', 'ক্\u200dষ'],
  ['Malayalam', 'ന്\u200d'],
  ['Kannada', 'ಕ್\u200cಷ'],
  ['Hindi', 'क्\u200dष'],
  ['Hebrew', 'שַּׁבָּת'],
  ['Hebrew', 'בְּרֵאשִׁ֖ית'],
  ['Tibetan', 'བརྒྱུད'],
  ['Burmese', 'မြွှူ့'],
  ['Arabic', 'اللّٰه'],
  ['Thai', 'น้ำ'],
  ['Greek', 'ᾧ'],
  ['Vietnamese', 'Nguyễn'],
  ['an emoji', 'Ann 👩🏽\u200d🚀'],
  ['an emoji', 'Ann 👩\u200d❤\u200d👩'],
  ['a flag', 'Ann 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['a flag', 'Ann 🏳️\u200d🌈'],
])('N21: a name of %s is a name: %j', (_script, name) => {
  expect(disguiseOf(name)).toBeNull()
  const bare = name.replace(/[\u200c\u200d]/g, '')
  expect([uniqueFormOf(name), looksIn(name)]).toEqual([uniqueFormOf(bare), looksIn(bare)])
})

test.each([
  ['a\u200cdmin', 'not seen'],
  ['a\u200ddmin', 'not seen'],
  ['Ann\u200d', 'not seen'],
  ['\u200cعلی', 'not seen'],
  ['علی\u200c', 'not seen'],
  ['ع\u200dع', 'not seen'],
  ['क\u200dष', 'not seen'],
  ['क्\u200d\u200d', 'not seen'],
  ['x\u094d\u200d', 'not seen'],
  ['👩\u200d', 'not seen'],
  ['Ann\u{e0067}\u{e007f}', 'not seen'],
  ['Ann \u{1f3f4}\u{e0061}\u{e007f}', 'not seen'],
  ['Ann\u00ad', 'not seen'],
  ['Ann ✅', 'badge'],
  ['Ann \u{1f5f8}', 'badge'],
  ['Ann \u{1f5f9}', 'badge'],
  ['Ann \u{1fbb1}', 'badge'],
  ['a\u0301\u0302\u0303', 'marks'],
  ['ก็็็็', 'marks'],
  ['a\u05b0\u05b1\u05b2', 'marks'],
  ['ا\u064b\u064c\u064d\u064e\u064f', 'marks'],
])('N21: %j is masked, and it is said how', (name, why) => expect(disguiseOf(name)).toContain(why))
