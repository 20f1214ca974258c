import { gemoji } from 'gemoji'
import { expect, test } from 'vitest'
import { countsBySign, signForm } from '#shared/kit/reaction-sign'

test('N29: each emoji of the table is its own form, with and without what asks for its presentation', () => {
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
])('N29: %j is %j', (written, form) => {
  expect([signForm(written), signForm(form)]).toEqual([form, form])
})

test('N29: counts of what is one sign are summed', () => {
  expect(countsBySign({ '\u2764': 2, '\u{1f44d}': 1, '\u2764\ufe0f': 3 })).toEqual({
    '\u2764\ufe0f': 5,
    '\u{1f44d}': 1,
  })
})
