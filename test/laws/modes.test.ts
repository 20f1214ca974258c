import { expect, test } from 'vitest'
import { filesWithModes, modes, modesIn } from '#test/support/modes'
import { textOf } from './sources.ts'

/** What a file of each folder may name; the embedded store always. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'test/server': modes.filter((mode) => mode !== 'mongodb'),
  'test/hostile': ['embedded', 'mongodb'],
}

const faultOf = (folder: string, code: string) => {
  const named = modesIn(code)
  if (named.length === 0) return 'names no modes'
  if (!named.includes('embedded')) return 'does not run on the embedded store'
  const unknown = named.filter((mode) => !allowed[folder]?.includes(mode))
  return unknown.length > 0 ? `names ${unknown.join(', ')}` : null
}

test('each file of the server and of attacks names in its first line what serves it', () => {
  const wrong = filesWithModes().flatMap((path) => {
    const fault = faultOf(path.split('/', 2).join('/'), textOf(path))
    return fault === null ? [] : [`${path}: ${fault}`]
  })
  expect(wrong).toEqual([])
})

test('catches what is planted', () => {
  expect(faultOf('test/server', "import 'a'\n")).toBe('names no modes')
  expect(faultOf('test/server', '// Modes: two-nodes\n')).toBe('does not run on the embedded store')
  expect(faultOf('test/server', '// Modes: embedded, mongodb\n')).toBe('names mongodb')
  expect(faultOf('test/hostile', '// Modes: embedded, mongodb\n')).toBe(null)
})
