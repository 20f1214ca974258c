import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { filesUnder, parse, type Source, textOf } from './sources.ts'

/** The cascade layers from the weakest to the strongest, and the sheets that are written in each. */
const layers: Readonly<Record<string, RegExp>> = {
  tokens: /^client\/web\/kit\/tokens\.css$/,
  reset: /^client\/web\/kit\/reset\.css$/,
  kit: /^client\/web\/kit\/(controls|frame)\.css$/,
  screens: /^client\/web\/.+\.module\.css$/,
}
const declared = 'client/web/kit/index.css'

interface Sheet {
  readonly path: string
  readonly text: string
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '')
const sheetAt = (path: string): Sheet => ({ path, text: withoutComments(textOf(path)).trim() })
const sheets = filesUnder('client/web')
  .filter((path) => path.endsWith('.css') && path !== declared)
  .map(sheetAt)
const modules = sheets.filter(({ path }) => path.endsWith('.module.css'))
const page = filesUnder('client/web')
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
  .map((path) => parse(path, textOf(path)))

/** The selectors of a sheet, without those inside of keyframes. */
function selectorsIn(text: string): string[] {
  const lists = text.replace(/@keyframes[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '').matchAll(/(?<=^|[{};])([^{};]+)\{/g)
  return [...lists].flatMap(([, list = '']) => (list.trim().startsWith('@') ? [] : selectorsOf(list)))
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

const classesIn = (text: string): string[] => text.match(/(?<=\.)[a-z][\w-]*/g) ?? []
const withoutGlobals = (selector: string) => selector.replace(/:global\([^()]*\)/g, '')
/** The classes of a module: those that are renamed. */
const ownClasses = ({ text }: Sheet): Set<string> =>
  new Set(selectorsIn(text).flatMap((selector) => classesIn(withoutGlobals(selector))))
const keyOf = (name: string) => name.replace(/-+(\w)/g, (_all, letter: string) => letter.toUpperCase())

/** Sheets outside of the layers, or with rules of another layer. */
const unlayered = (all: readonly Sheet[]): string[] =>
  all.flatMap(({ path, text }) => {
    const layer = Object.keys(layers).find((name) => layers[name]?.test(path))
    if (!layer) return [`${path}: belongs to no layer`]
    const isWhole = text.startsWith(`@layer ${layer} {`) && text.endsWith('\n}') && text.match(/@layer/g)?.length === 1
    return isWhole ? [] : [`${path}: is not wholly in the layer ${layer}`]
  })

/** Selectors of a module that may reach elements of other components: the element, one around it or one in it must have a class of the module. */
const wide = (all: readonly Sheet[]): string[] =>
  all.flatMap(({ path, text }) =>
    selectorsIn(text)
      .filter((selector) => {
        const positive = withoutGlobals(selector).replace(/:not\((?:[^()]|\([^()]*\))*\)/g, '')
        // A module renames ids as well, which no component then has.
        return classesIn(positive).length === 0 || /#[a-z]/.test(positive)
      })
      .map((selector) => `${path}: ${selector}`),
  )

/** What components take of sheets that these do not have, and what no component takes. */
function mismatches(all: readonly Sheet[], sources: readonly Source[]): string[] {
  const taken = new Map(all.map(({ path }) => [path, new Set<string>()]))
  const faults: string[] = []
  for (const { path, code } of sources)
    for (const [line, name = '', from = ''] of code.matchAll(/^import (\w+) from '(\.[^']+\.module\.css)'$/gm)) {
      const sheet = join(path, '..', from)
      const uses = [...code.replace(line, '').matchAll(new RegExp(`(?<![\\w.])${name}\\b(?:\\.(\\w+))?`, 'g'))]
      for (const [, key] of uses)
        if (key) taken.get(sheet)?.add(key)
        else faults.push(`${path}: ${name} is used without the name of a class`)
    }
  for (const sheet of all) {
    const keys = new Set([...ownClasses(sheet)].map(keyOf))
    const used = taken.get(sheet.path) ?? new Set()
    for (const key of used) if (!keys.has(key)) faults.push(`${sheet.path}: has no class ${key}`)
    for (const key of keys) if (!used.has(key)) faults.push(`${sheet.path}: no component uses ${key}`)
  }
  return faults
}

test('O80: tokens, reset, kit and screens are cascade layers, and each sheet is in one of them', () => {
  expect(textOf(declared)).toMatch(/^@layer tokens, reset, kit, screens;\n/)
  expect(textOf('client/web/index.html').match(/@layer|stylesheet.*/g)).toEqual([
    'stylesheet" href="./kit/index.css" />',
  ])
  expect(unlayered(sheets)).toEqual([])
})

test('O80: a selector outside of the kit names a class of its own sheet', () => {
  expect(wide(modules)).toEqual([])
})

test('O80: components and their sheets name the same classes', () => {
  expect(mismatches(modules, page)).toEqual([])
})

test('O80: a class has the name of its sheet, which no other sheet has, and tests know it by that', () => {
  const names = modules.map(({ path }) => basename(path, '.module.css'))
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  const known = new Set(
    modules.flatMap((sheet) => [...ownClasses(sheet)].map((name) => `${basename(sheet.path, '.module.css')}__${name}`)),
  )
  const named = filesUnder('test/browser').flatMap((path) =>
    [...textOf(path).matchAll(/(?<=\.)[a-z][\w-]*__[\w-]+/g)].map(([name]) => ({ path, name })),
  )
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter(({ name }) => !known.has(name))).toEqual([])
})

/** Sides that stay where they are in each direction of writing: the middle, places in pictures, and what an author chose. */
const fixedSides: Readonly<Record<string, RegExp>> = {
  'client/web/media/lightbox.module.css': /^(left|right): /,
  'client/web/media/pixel-editor.module.css': /^left: /,
  'client/web/profiles/profiles.module.css': /^text-align: right$/,
}
const ofOneSide = /^(?:(?:margin|padding|border)-(?:left|right)|left|right): |^text-align: (?:left|right)$/

/** Rules that name left or right, or give them in a row of four, and would not follow the direction of a language. */
const sided = (all: readonly Sheet[]): string[] =>
  all.flatMap(({ path, text }) =>
    [...text.matchAll(/(?<=[{;]\s*)[a-z-]+: [^;{}]+(?=;)/g)]
      .map(([rule]) => rule)
      .filter((rule) => {
        if (rule === 'left: 50%' || fixedSides[path]?.test(rule)) return false
        const [, values = ''] = rule.match(/^(?:margin|padding|inset): (.+)$/) ?? []
        const [, right, , left] = values.match(/[^\s()]*\([^()]*(?:\([^()]*\)[^()]*)*\)|\S+/g) ?? []
        return ofOneSide.test(rule) || (left !== undefined && left !== right)
      })
      .map((rule) => `${path}: ${rule}`),
  )

test('O80: sides follow the direction of writing', () => {
  expect(sided(sheets)).toEqual([])
})

test('O80: what is planted is found', () => {
  const path = 'client/web/rooms/planted.module.css'
  const planted = (rules: string): Sheet => ({ path, text: `@layer screens {\n${rules}\n}` })
  expect(
    unlayered([
      { path, text: '.a {\n}' },
      { path: 'client/web/rooms/a.css', text: '' },
    ]),
  ).toHaveLength(2)
  for (const selector of [':global(.ways) > :global(.button)', 'main h1', '.own #tab-try', ':global(.room):not(.own)'])
    expect(wide([planted(`${selector} { color: red; }`)])).toEqual([`${path}: ${selector}`])
  expect(wide([planted('.own :global(.button), :is(.own, .other) { color: red; }')])).toEqual([])
  for (const rule of [
    'left: 0',
    'padding-right: 1px',
    'text-align: left',
    'margin: 0 calc(1px + 2px) 0 var(--space-1)',
  ])
    expect(sided([planted(`.own { ${rule}; }`)])).toEqual([`${path}: ${rule}`])
  expect(sided([planted('.own { left: 50%; padding: 0 1px calc(1px + env(a)); margin: 0 1px 2px 1px; }')])).toEqual([])
  const code = "import styles from './planted.module.css'\nuse(styles.other, styles)"
  expect(
    mismatches(
      [planted('.own-part { color: red; }')],
      [{ path: 'client/web/rooms/planted.tsx', code, imports: [], names: [], exports: [] }],
    ),
  ).toEqual([
    'client/web/rooms/planted.tsx: styles is used without the name of a class',
    `${path}: has no class other`,
    `${path}: no component uses ownPart`,
  ])
})
