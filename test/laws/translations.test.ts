import compile from 'icu-minify/compile'
import { expect, test } from 'vitest'
import { languages } from '#client/web/texts/language'
import { catalogTextsOf, isCatalog } from './catalogs.ts'
import { filesUnder, textOf } from './sources.ts'

const folders: Readonly<Record<string, string>> = { german: 'de', spanish: 'es', arabic: 'ar' }

const files = filesUnder('client/web/texts')
const textsAt = (path: string) => catalogTextsOf({ path, code: textOf(path) })
const catalogs = files.filter(isCatalog)

/** What a translation has in common with its message: variables, tags, and the options of each choice. */
interface Parts {
  values: Set<string>
  selects: Map<string, string[]>
  plurals: Map<string, string[]>
}

const [select, plural] = [1, 2]

function partsOf(message: string): Parts {
  const parts: Parts = { values: new Set(), selects: new Map(), plurals: new Map() }
  const visit = (node: unknown): void => {
    if (!Array.isArray(node)) return
    const [name, type, options] = node as [string, unknown, Record<string, unknown>]
    parts.values.add(typeof type === 'string' || Array.isArray(type) || type === 0 ? `<${name}>` : name)
    if (type === select) parts.selects.set(name, Object.keys(options))
    if (type === plural) parts.plurals.set(name, Object.keys(options))
    if (type === select || type === plural) for (const option of Object.values(options)) visitAll(option)
    else if (typeof type !== 'number' || type === 0) visitAll(node.slice(1))
  }
  const visitAll = (nodes: unknown) => {
    if (Array.isArray(nodes)) nodes.forEach(visit)
  }
  visitAll(compile(message))
  return parts
}

/** What is wrong with a translation of a message. */
function faultsOf(english: string, translated: string, language: string): string[] {
  const [given, made] = [partsOf(english), partsOf(translated)]
  const faults: string[] = []
  const differing = [...new Set([...given.values, ...made.values])].filter(
    (name) => !given.values.has(name) || !made.values.has(name),
  )
  if (differing.length > 0) faults.push(`variables and tags: ${differing.join(', ')}`)
  for (const [name, options] of given.selects) {
    const missing = options.filter((option) => !made.selects.get(name)?.includes(option))
    if (missing.length > 0) faults.push(`${name}: ${missing.join(', ')}`)
  }
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.sort()
  for (const name of given.plurals.keys()) if (!made.plurals.has(name)) faults.push(`${name} without a plural`)
  for (const [name, options] of made.plurals) {
    const missing = categories.filter((category) => !options.includes(category))
    if (missing.length > 0) faults.push(`${name}: ${missing.join(', ')}`)
  }
  return faults
}

test('O87: each language that can be chosen has a folder of translations', () => {
  expect(Object.values(folders)).toEqual(Object.keys(languages).filter((language) => language !== 'en'))
  const found = files.flatMap((path) => /^client\/web\/texts\/(\w+)\//.exec(path)?.[1] ?? [])
  expect([...new Set(found)].sort()).toEqual(Object.keys(folders).sort())
})

test.each(Object.entries(folders))(
  'O87: %s has each text, with its variables, tags and plurals',
  (folder, language) => {
    const wrong = catalogs.flatMap((path) => {
      const name = path.slice('client/web/texts/'.length)
      const translation = `client/web/texts/${folder}/${name}`
      if (!files.includes(translation)) return [`${translation} is missing`]
      const translated = textsAt(translation)
      return [...textsAt(path)].flatMap(([key, english]) => {
        const text = translated.get(key)
        if (text === undefined || text === '') return [`${translation}: ${key} is missing`]
        return faultsOf(english, text, language).map((fault) => `${translation}: ${key}: ${fault}`)
      })
    })
    expect(wrong).toEqual([])
  },
)

test.each(Object.keys(folders))('O87: %s imports types alone, and all of its files are loaded', (folder) => {
  const index = textOf(`client/web/texts/${folder}/index.ts`)
  for (const path of files.filter(
    (one) => one.startsWith(`client/web/texts/${folder}/`) && !one.endsWith('index.ts'),
  )) {
    expect(textOf(path).match(/^import (?!type ).*/gm), path).toBeNull()
    const name = /[^/]+(?=\.ts$)/.exec(path)?.[0] ?? ''
    expect(index).toMatch(new RegExp(`^  ('${name}'|${name}): \\w+,$`, 'm'))
    expect(index).toContain(`'./${name}.ts'`)
  }
})

test.each([
  ['Hi {name}', 'Hallo {nome}', ['variables and tags: name, nome']],
  ['Hi <b>{name}</b>', 'Hallo {name}', ['variables and tags: <b>']],
  ['{kind, select, voice {a} other {b}}', '{kind, select, other {b}}', ['kind: voice']],
  ['{n, plural, one {# a} other {# b}}', '{n} b', ['n without a plural']],
  ['{n, plural, one {# a} other {# b}}', '{n, plural, one {# a} other {# b}}', ['n: few, many, two, zero']],
  [
    '{n, plural, one {<b>#</b>} other {}} {x}',
    '{x} {n, plural, zero {} one {} two {} few {} many {} other {<b>#</b>}}',
    [],
  ],
])('O87: that law sees: %s -> %s', (english, translated, faults) => {
  expect(faultsOf(english, translated, 'ar')).toEqual(faults)
})
