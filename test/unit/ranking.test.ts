import { expect, test } from 'vitest'
import { ranked } from '#client/web/switcher/ranking'

const found = (query: string, ...titles: string[]) =>
  ranked(
    query,
    titles.map((title) => ({ title })),
  ).map(({ title }) => title)

test('a whole title is first, then one that begins so, then a word that does, then letters in their order', () => {
  const titles = ['Degree of nets', 'The den', 'Dennis', 'den', 'Alpha']
  expect(found('den', ...titles)).toEqual(['den', 'Dennis', 'The den', 'Degree of nets'])
})

test('each word of a query begins a word of the title, in the same order', () => {
  expect(found('no li', 'No links please', 'Linked notes', 'Node limits')).toEqual(['No links please', 'Node limits'])
  expect(found('links', 'no-links', 'no_links', 'nolinks')).toEqual(['no-links', 'no_links', 'nolinks'])
})

test('letters that are closer together are first, and scattered ones are not found', () => {
  expect(found('gnl', 'gunwale', 'g-n-l', 'giraffes never look elsewhere')).toEqual(['g-n-l', 'gunwale'])
  expect(found('x', 'axe')).toEqual([])
})

test('case, accents and signs of direction make no difference', () => {
  expect(found('zoe', 'ZOË')).toEqual(['ZOË'])
  expect(found('ÉCOLE', 'école')).toEqual(['école'])
  expect(found('سلام', '\u2068سلام\u2069')).toEqual(['\u2068سلام\u2069'])
  expect(found('東', '東京', '中国')).toEqual(['東京'])
})

test('other texts count less than a title of the same rank, and more than the next rank', () => {
  const entries = [{ title: 'The annex' }, { title: 'Bea', also: ['@ann', 'annie'] }, { title: 'Anna' }]
  expect(ranked('ann', entries).map(({ title }) => title)).toEqual(['Anna', 'Bea', 'The annex'])
})

test('entries of one rank keep their order, and an empty query finds all', () => {
  expect(found('a', 'ab', 'aa', 'ac')).toEqual(['ab', 'aa', 'ac'])
  expect(found('', 'b', 'a')).toEqual(['b', 'a'])
  expect(found('!', 'a', '!b')).toEqual(['!b'])
})

test('words by which people look for an entry are found by their beginnings alone, after its title', () => {
  const entries = [{ title: 'Appearance', soughtAs: 'theme dark mode' }, { title: 'Therapy' }, { title: 'Theme park' }]
  const found = (query: string) => ranked(query, entries).map(({ title }) => title)
  expect(found('theme')).toEqual(['Theme park', 'Appearance'])
  expect(found('dark app')).toEqual([])
  expect(found('app dark')).toEqual(['Appearance'])
  expect(found('ode')).toEqual([])
})
