import { expect, test } from 'vitest'
import { readableTexts } from '#client/web/texts/catalog'

const english = {
  add: 'Add friend',
  remove: 'Remove {name}?',
  requests: '{count, plural, one {# request} other {# requests}} for {name}',
  states: { online: 'Online', away: 'Away since {time}' },
} as const

test('O87: a text with a number has the plural of its language', () => {
  const t = readableTexts(english, undefined, 'en')
  expect(t.add).toBe('Add friend')
  expect(t.remove({ name: 'Ana' })).toBe('Remove Ana?')
  expect(t.requests({ count: 1, name: 'Ana' })).toBe('1 request for Ana')
  expect(t.requests({ count: 1_200, name: 'Ana' })).toBe('1,200 requests for Ana')
  expect(t.states.away({ time: '9:30' })).toBe('Away since 9:30')
})

test('O87: another language has its own plurals, and English where a text is missing', () => {
  const requests =
    '{count, plural, zero {لا طلبات} one {طلب واحد} two {طلبان} few {# طلبات} many {# طلبا} other {# طلب}}'
  const t = readableTexts(english, { add: 'إضافة صديق', requests, states: { online: 'متصل' } }, 'ar')
  expect(t.add).toBe('إضافة صديق')
  const name = 'Ana'
  expect([0, 1, 2].map((count) => t.requests({ count, name }))).toEqual(['لا طلبات', 'طلب واحد', 'طلبان'])
  expect(t.requests({ count: 3, name })).toMatch(/طلبات$/)
  expect(t.requests({ count: 11, name })).toMatch(/طلبا$/)
  expect([t.states.online, t.remove({ name })]).toEqual(['متصل', 'Remove Ana?'])
})

test('O87: an unknown key or a missing variable does not compile', () => {
  const t = readableTexts(english, undefined, 'en')
  // @ts-expect-error: no such key
  expect(t.ask).toBeUndefined()
  // @ts-expect-error: the name is missing
  const incomplete = () => t.requests({ count: 1 })
  expect(incomplete).toBeTypeOf('function')
  // @ts-expect-error: no such key to translate
  readableTexts(english, { ask: 'Fragen' }, 'de')
})
