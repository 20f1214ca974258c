import { expect, test } from 'vitest'
import { rowAsPage } from '#server/domains/platform/own-data/archive-pages'

const names: Readonly<Record<string, string>> = {
  'email:13ab42c3d4e5f601': 'Uma <b>',
  '0x00000000000000000000000000000000000000ad': 'Ada',
}
const nameOf = async (account: string) => names[account] ?? account

test('a row of the archive names people beside their ids, whatever they sign in with', async () => {
  const [friend = '', author = ''] = Object.keys(names)
  const page = await rowAsPage({ friend, author, room: 'channel:13ab42c3-d4e5', text: 'email: me' }, nameOf)
  expect(page).toContain(`Uma &lt;b&gt; (${friend})`)
  expect(page).toContain(`Ada (${author})`)
  expect(page).toContain('>channel:13ab42c3-d4e5<')
  expect(page).toContain('>email: me<')
})

test('fields of a row have plain names, and names that others chose stay text', async () => {
  const at = new Date(1_796_000_000_000)
  const row = { created_at: at, user_address: 'ann', last_read_at: at, constructor: 'x', '<b onclick=x>': 'x' }
  const page = await rowAsPage(row, nameOf)
  const shown = [...page.matchAll(/<th>(.*?)<\/th>/g)].map(([, label]) => label)
  expect(shown).toEqual(['Created', 'Account', 'Last read at', 'Constructor', '&lt;b onclick=x&gt;'])
})
