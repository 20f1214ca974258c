import { expect, test } from 'vitest'
import { chosenName, madeUpName, nameOf, shortened } from '#shared/kit/person-name'

const ids = [
  '0x0de0b6b3a7640000000000000000000000000001',
  'email:0192f7a4-96b9-7000-8000-00000000096b9',
  'passkey:0192f7a4',
  'worldid:x',
  'GKot5hBsd81kMupNCXHaqbhv3huEbxAFMLnpcX2hniwn',
  '',
]

test.each(ids)('M70: a person without a name is called the same everywhere, and never by the id: %s', (id) => {
  const name = madeUpName(id)
  expect(name).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+ [1-9]\d$/)
  expect(madeUpName(id)).toBe(name)
  for (const none of [null, undefined, '', id, shortened(id)]) expect(nameOf(none, id)).toBe(name)
  expect(nameOf('Ada', id)).toBe('Ada')
})

test('a person is called by a nickname, else by the display name, else by the username', () => {
  const names = { nickname: 'Nono', display_name: 'Nora N', username: 'nora_n' }
  expect(chosenName(names)).toBe('Nono')
  expect(chosenName({ ...names, nickname: null })).toBe('Nora N')
  expect(chosenName({ display_name: null, username: 'nora_n' })).toBe('nora_n')
  expect(chosenName({ display_name: null, username: null })).toBeNull()
})

test('M70: names made up for many ids are mostly different', () => {
  const names = new Set(Array.from({ length: 1_000 }, (_, at) => madeUpName(`0x${at.toString(16).padStart(40, '0')}`)))
  expect(names.size).toBeGreaterThan(980)
})
