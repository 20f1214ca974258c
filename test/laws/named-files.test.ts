import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { filesUnder, textOf } from './sources.ts'

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...filesUnder('docs').filter((path) => path.endsWith('.md')),
]

/** What `npm run build` writes. */
const built = ['dist/docs/openapi.json', 'dist/docs/asyncapi.json']
const files = [...filesUnder('.'), ...built]
const here = [...new Set(files.flatMap((path) => [path, ...foldersOf(path)]))]

function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

const fromRoot = /^(server|shared|client|test|scripts|docs|deploy)\//
const fileName = /^[\w./*-]*\.(tsx?|m?js|md|json|ya?ml|css|html|sh)$/

/** The files and folders of a name, in which `*` stands for a part of a name. */
function placesOf(name: string): string[] {
  const pattern = new RegExp(`^${name.replace(/\/$/, '').replaceAll('.', '\\.').replaceAll('*', '[^/]+')}$`)
  return here.filter((path) => pattern.test(path))
}

const isBelow = (path: string, name: string, folders: readonly string[]) =>
  path.endsWith(`/${name}`) && folders.some((folder) => path.startsWith(`${folder}/`))

/**
 * Files and folders between backticks, and what links of documents lead to. A file without its folder is in, or below, one of those
 * that its line names; where the line names none, anywhere.
 */
function missingIn(document: string, text: string): string[] {
  const named = text.split('\n').flatMap((line) => {
    const words = [...line.matchAll(/`([^`\s]+)`/g)].map(([, word = '']) => word.replace(/<\w+>/g, '*'))
    const whole = words.filter((word) => fromRoot.test(word) && /^[\w./*-]+$/.test(word))
    const short = words.filter((word) => !fromRoot.test(word) && fileName.test(word) && !word.includes('*'))
    const folders = whole.map((path) => (fileName.test(path) ? dirname(path) : path)).flatMap(placesOf)
    const isThere = (name: string) =>
      here.some(
        (path) => path === name || isBelow(`/${path}`, name, whole.length > 0 ? folders.map((one) => `/${one}`) : ['']),
      )
    return [...whole.filter((path) => placesOf(path).length === 0), ...short.filter((name) => !isThere(name))]
  })
  const links = [...text.matchAll(/\]\(([\w./-]+)(?:#[\w-]*)?\)/g)]
  const linked = links
    .map(([, path = '']) => join(dirname(document), path))
    .filter((path) => placesOf(path).length === 0)
  return [...named, ...linked].map((path) => `${document}: ${path}`)
}

test('every file that a document names is there', () => {
  expect(documents.flatMap((path) => missingIn(path, textOf(path)))).toEqual([])
})

test.each([
  ['a file', '`server/gone.ts`', 'server/gone.ts'],
  ['what a link leads to', '[that](gone.md)', 'docs/gone.md'],
  ['a name alone', 'See `gone.ts`.', 'gone.ts'],
  ['a name in the folder of its row', '| `server/log/turn.ts`, `platform.ts` |', 'platform.ts'],
  ['a path without its beginning', 'in `messages/gone.ts`', 'messages/gone.ts'],
  ['a pattern', '`server/domains/*/gone.ts`', 'server/domains/*/gone.ts'],
])('the law finds that %s is gone', (_title, text, gone) => {
  expect(missingIn('docs/a.md', text)).toEqual([`docs/a.md: ${gone}`])
})

test.each([
  '`server/app.ts`, `main.ts` and `server/kernel/`',
  '[log](log.md#turns) and `messages/polls.ts`',
  '`server/domains/<neighbourhood>/<name>/index.ts`, `server/domains/*/*/model.ts`',
])('the law passes: %s', (text) => {
  expect(missingIn('docs/a.md', text)).toEqual([])
})
