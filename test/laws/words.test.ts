import { expect, test } from 'vitest'
import { filesUnder, textOf } from './sources.ts'

const ROOTS = ['work', 'root', 'home', 'Users', 'opt'].join('|')
const MACHINE_PATH = new RegExp(String.raw`(?<![\w.#:*-])/(${ROOTS})/[\w.]|[.]library\b|\b[A-Z]:\\(${ROOTS})\b`, 'g')

test('the repository speaks of Plaza alone and of no machine', () => {
  const texts = filesUnder('.').map((path) => ({ path, text: textOf(path) }))
  const written = texts.filter(({ text }) => !text.includes('\0'))
  const found = written.flatMap(({ path, text }) =>
    [...text.matchAll(MACHINE_PATH)].map(([words]) => `${path}: ${words}`),
  )
  expect(found).toEqual([])
})
