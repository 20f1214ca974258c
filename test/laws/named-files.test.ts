import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { filesUnder, root, textOf } from './sources.ts'

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...filesUnder('docs').filter((path) => path.endsWith('.md')),
]

/** Files and folders of ours between backticks, and what links of documents lead to. */
function missingIn(document: string, text: string): string[] {
  const named = [...text.matchAll(/`((?:server|shared|client|test|scripts|docs)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  const linked = [...text.matchAll(/\]\(([\w./-]+)(?:#[\w-]*)?\)/g)].map(([, path = '']) =>
    join(dirname(document), path),
  )
  return [...named, ...linked].filter((path) => !existsSync(join(root, path))).map((path) => `${document}: ${path}`)
}

test('every file that a document names is there', () => {
  expect(documents.flatMap((path) => missingIn(path, textOf(path)))).toEqual([])
})

test('the law finds a file that is gone', () => {
  const text = 'See `server/gone.ts`, [that](gone.md) and `server/app.ts`.'
  expect(missingIn('docs/a.md', text)).toEqual(['docs/a.md: server/gone.ts', 'docs/a.md: docs/gone.md'])
})
