import { expect, test } from 'vitest'
import { everythingIn, nameOf, programOf, type Source, type Syntax, sourcesOf } from './sources.ts'

const page = sourcesOf('client/web').filter(({ path }) => path.endsWith('.tsx'))

const attributesOf = (tag: Syntax): Map<string, string> =>
  new Map(
    everythingIn(tag)
      .filter(({ type }) => type === 'JSXAttribute')
      .map(({ name, value }) => [nameOf(name), nameOf(value)]),
  )

/** Fields in which people write words that have no direction of their own. */
function undirected({ path, code }: Source): string[] {
  const tags = everythingIn(programOf(path, code)).filter(({ type }) => type === 'JSXOpeningElement')
  return tags.flatMap((tag) => {
    const attributes = attributesOf(tag)
    const type = attributes.get('type') ?? 'text'
    const isWritten = nameOf(tag.name) === 'textarea' || (nameOf(tag.name) === 'input' && /^(text|search)$/.test(type))
    return isWritten && !attributes.has('dir') ? [`${path}: ${[...attributes.keys()].join(' ')}`] : []
  })
}

test('O27: each field in which words are written takes their direction', () => {
  expect(page.flatMap(undirected)).toEqual([])
  const planted = { path: 'a.tsx', code: '<p><textarea rows={2} /><input type="number" /><input name="a" /></p>' }
  expect(undirected({ ...planted, imports: [], names: [], exports: [] })).toEqual(['a.tsx: rows', 'a.tsx: name'])
})

test('O26: one function tells what belongs to an input method', () => {
  const told = sourcesOf('client').filter(({ code }) => /\.isComposing|\bkeyCode\b/.test(code))
  expect(told.map(({ path }) => path)).toEqual(['client/web/kit/keys.ts'])
  const sending = page.filter(
    ({ code }) => /=== 'Enter'/.test(code) && /onKeyDown/.test(code) && /<textarea/.test(code),
  )
  for (const { path, code } of sending) expect(code, path).toContain('isComposing(')
})
