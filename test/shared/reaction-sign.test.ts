import { gemoji } from 'gemoji'
import { expect, test } from 'vitest'
import { countsBySign, signForm } from '#shared/kit/reaction-sign'
import { heavy } from '#test/support/heavy'

test('N29: each emoji of the table is its own form, with and without what asks for its presentation', heavy, () => {
  for (const { emoji } of gemoji) {
    const bare = emoji.replaceAll('\ufe0f', '')
    expect([emoji, signForm(emoji), signForm(bare), signForm(`${bare}\ufe0f`)]).toEqual([emoji, emoji, emoji, emoji])
  }
})

test.each([
  ['\u2764', '\u2764\ufe0f'],
  ['\u2764\ufe0e', '\u2764\ufe0f'],
  ['\u{1f44d}\ufe0f\u200b', '\u{1f44d}'],
  ['\u{1f44d}\u200d', '\u{1f44d}'],
  ['\u261d\ufe0f\u{1f3fd}', '\u261d\u{1f3fd}'],
  ['\u2764\u200d\u{1f525}', '\u2764\ufe0f\u200d\u{1f525}'],
  ['#\u20e3', '#\ufe0f\u20e3'],
  ['1\ufe0f', '1'],
  ['I\u2764NY', 'I\u2764\ufe0fNY'],
  ['e\ufe0f\u0301', '\u00e9'],
  ['e\u200d\u0301', '\u00e9'],
  ['#\u200d\u20e3', '#\ufe0f\u20e3'],
  ['\u{1f469}\u00ad\u200d\u{1f680}', '\u{1f469}\u200d\u{1f680}'],
  ['\u{1f3f4}\u{e0061}\u{e007f}', '\u{1f3f4}'],
])('N29: %j is %j', (written, form) => {
  expect([signForm(written), signForm(form)]).toEqual([form, form])
})

const hidden =
  '00ad 034f 061c 115f 17b4 180e 200b 200c 200d 200e 202e 2060 2063 2066 206f 2800 3164 fe00 fe0e fe0f feff ffa0 fff9 1d173 e0001 e0020 e007f e0100'
test.each(hidden.split(' '))('N29: U+%s before, in and after a sign is not seen, and makes no other of it', (point) => {
  const none = String.fromCodePoint(Number.parseInt(point, 16))
  for (const sign of ['\u{1f44d}', '\u2764\ufe0f', 'ok', '\u{1f1fa}\u{1f1f8}'])
    expect([`${none}${sign}`, `${sign}${none}`, `${sign}${none}${none}`].map(signForm)).toEqual([sign, sign, sign])
  expect(signForm(none)).toBe('')
  expect(signForm(`o${none}k`)).toBe('ok')
  expect(signForm(`\u{1f44d}${none}\u{1f44d}`)).toBe('\u{1f44d}\u{1f44d}')
})

test('N29: what an emoji is made of stays', () => {
  const england = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'
  for (const sign of [england, '\u{1f469}\u{1f3fd}\u200d\u{1f680}', '1\ufe0f\u20e3', '\u2764\ufe0f\u200d\u{1f525}'])
    expect([signForm(sign), signForm(`${sign}\u{e0062}\u200d`)]).toEqual([sign, sign])
})

test('N29: counts of what is one sign are summed', () => {
  expect(countsBySign({ '\u2764': 2, '\u{1f44d}': 1, '\u2764\ufe0f': 3 })).toEqual({
    '\u2764\ufe0f': 5,
    '\u{1f44d}': 1,
  })
})
