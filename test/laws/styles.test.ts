import { join } from 'node:path'
import { expect, test } from 'vitest'
import { everythingIn, filesUnder, isSyntax, nameOf, parse, programOf, type Source, textOf } from './sources.ts'

const entry = 'client/web/main.tsx'
const always = 'client/web/styles/index.css'

/** A selector of a sheet; `classes` are those of the element it begins at, `everywhere` all that it names. */
interface Selector {
  readonly sheet: string
  readonly text: string
  readonly classes: readonly string[]
  readonly everywhere: readonly string[]
}

const classesIn = (text: string): string[] => text.match(/(?<=\.)[a-z][\w-]*/g) ?? []

function selectorsIn(sheet: string, written: string): Selector[] {
  const rules = written
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/@keyframes[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '')
    .matchAll(/(?<=^|[{};])([^{};]+)\{/g)
  const texts = [...rules].flatMap(([, list = '']) => (list.trim().startsWith('@') ? [] : selectorsOf(list)))
  return texts.map((text) => {
    // What is in brackets is no part of the element itself.
    const [first = ''] = text.replace(/\((?:[^()]|\([^()]*\))*\)/g, '').split(/\s*[>~+]\s*|\s+/)
    return { sheet, text, classes: classesIn(first), everywhere: classesIn(text.replace(/:not\([^)]*\)/g, '')) }
  })
}

/** The selectors of a list of them. */
function selectorsOf(list: string): string[] {
  const found = ['']
  let depth = 0
  for (const sign of list) {
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0
    if (sign === ',' && depth === 0) found.push('')
    else found.push(`${found.pop()}${sign}`)
  }
  return found.map((one) => one.trim()).filter(Boolean)
}

/** The files that a sheet is made of. */
const sheetsOf = (path: string): string[] => [
  path,
  ...[...textOf(path).matchAll(/@import "([^"]+)"/g)].flatMap(([, name = '']) => sheetsOf(join(path, '..', name))),
]

/** The sheets that are there whenever a file of the page runs, whatever was opened before. */
function sheetsBeside(sources: readonly Source[]): (path: string) => ReadonlySet<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const later = ({ path, code }: Source) =>
    new Set([...code.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, name = '']) => join(path, '..', name)))
  const atOnce = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
    const source = byPath.get(path)
    if (seen.has(path)) return seen
    seen.add(path)
    if (source) for (const next of source.imports) if (!later(source).has(next)) atOnce(next, seen)
    return seen
  }
  const own = new Map(
    sources.map(({ path }) => [path, [...atOnce(path)].filter((one) => one.endsWith('.css')).flatMap(sheetsOf)]),
  )
  const importers = new Map<string, string[]>()
  for (const { path, imports } of sources)
    for (const to of imports) importers.set(to, [...(importers.get(to) ?? []), path])
  const everything = new Set(filesUnder('client/web/styles'))
  const beside = new Map(
    sources.map(({ path }) => [
      path,
      path === entry ? new Set([...sheetsOf(always), ...(own.get(path) ?? [])]) : everything,
    ]),
  )
  for (let isChanged = true; isChanged; ) {
    isChanged = false
    for (const { path } of sources) {
      const before = beside.get(path) ?? everything
      const from = importers.get(path) ?? []
      if (path === entry) continue
      const ofImporters = from.map((one) => beside.get(one) ?? everything)
      const shared = [...everything].filter((sheet) => ofImporters.every((ones) => ones.has(sheet)))
      const now = new Set([...shared, ...(own.get(path) ?? [])])
      if (now.size === before.size) continue
      beside.set(path, now)
      isChanged = true
    }
  }
  return (path) => beside.get(path) ?? everything
}

/** The classes that elements of a file may have: all that stand in one attribute. */
function worn({ path, code }: Source): string[][] {
  const attributes = everythingIn(programOf(path, code)).filter(
    ({ type, name }) => type === 'JSXAttribute' && /^(className|look)$/.test(nameOf(name)),
  )
  return attributes.map(({ value }) =>
    (isSyntax(value) ? everythingIn(value) : []).flatMap(({ type, value: text }) => {
      if (type === 'Literal') return String(text).split(/\s+/)
      const raw = type === 'TemplateElement' ? (text as { raw: string }).raw : ''
      return raw.split(/\s+/)
    }),
  )
}

const sheets = filesUnder('client/web/styles').filter((path) => path.endsWith('.css'))
const selectors = sheets.flatMap((path) => selectorsIn(path, textOf(path)))
const roots = sheets.filter((path) => !sheets.some((other) => other !== path && sheetsOf(other).includes(path)))
/** The sheet with which a sheet is loaded. */
const rootOf = (sheet: string) => roots.find((path) => sheetsOf(path).includes(sheet)) ?? sheet
const page = filesUnder('client')
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
  .map((path) => parse(path, textOf(path)))

/** The sheets to which a class belongs: those that begin a selector with it, or else that name it at all. */
function homesIn(all: readonly Selector[]): (name: string) => ReadonlySet<string> {
  const begun = new Map<string, Set<string>>()
  const named = new Map<string, Set<string>>()
  const note = (map: Map<string, Set<string>>, name: string, sheet: string) =>
    map.set(name, (map.get(name) ?? new Set()).add(rootOf(sheet)))
  for (const { sheet, classes, everywhere } of all) {
    for (const name of classes) note(begun, name, sheet)
    for (const name of everywhere) note(named, name, sheet)
  }
  return (name) => begun.get(name) ?? named.get(name) ?? new Set()
}

/** Selectors of what is loaded later that name nothing which belongs to it alone. */
function shared(all: readonly Selector[]): string[] {
  const homes = homesIn(all)
  return all
    .filter(({ sheet, text }) => rootOf(sheet) !== always && !text.startsWith('#'))
    .filter(({ everywhere }) => everywhere.every((name) => homes(name).size > 1))
    .map(({ sheet, text }) => `${sheet}: ${text}`)
}

/** Selectors that reach elements of files which may run without their sheet. */
function strays(all: readonly Selector[], sources: readonly Source[]): string[] {
  const beside = sheetsBeside(sources)
  const homes = homesIn(all)
  const isNarrowed = ({ sheet, classes, everywhere }: Selector) =>
    everywhere.some((name) => !classes.includes(name) && homes(name).size === 1 && homes(name).has(rootOf(sheet)))
  const wide = all.filter((one) => one.classes.length > 0 && !isNarrowed(one))
  return sources.flatMap((source) => {
    const there = beside(source.path)
    const absent = wide.filter(({ sheet }) => !there.has(sheet))
    const found = worn(source).flatMap((names) =>
      absent.filter(({ classes }) => classes.every((name) => names.includes(name))),
    )
    return [...new Set(found)].map(({ sheet, text }) => `${source.path} looks otherwise after ${sheet}: ${text}`)
  })
}

test('O80: each selector of a sheet that is loaded later names a class of its own', () => {
  expect(shared(selectors)).toEqual([])
})

test('O80: no element looks otherwise after another screen was opened', () => {
  expect(strays(selectors, page)).toEqual([])
})

test('O80: what is planted is found', () => {
  const agents = 'client/web/styles/agents.css'
  const planted = [
    ...selectors,
    ...selectorsIn(
      agents,
      '.ways > .button, .room:not(.x) { color: red } @media (width > 1px) { .player-words { color: red } }',
    ),
  ]
  expect(shared(planted)).toEqual(expect.arrayContaining([`${agents}: .ways > .button`, `${agents}: .player-words`]))
  const found = strays(planted, page)
  for (const text of ['.ways > .button', '.player-words', '.room:not(.x)'])
    expect(found.some((one) => one.endsWith(`${agents}: ${text}`))).toBe(true)
})
