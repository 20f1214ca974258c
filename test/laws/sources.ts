import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const NOT_OURS = new Set(['node_modules', '.git', '.cache', 'data', 'dist', 'coverage', 'secrets'])

/** `names` are what is imported of ours, as `path: name`; `*` is everything there. `exports` are the names of its own. */
export interface Source {
  path: string
  code: string
  imports: readonly string[]
  names: readonly string[]
  exports: readonly string[]
}

/** A node of the syntax tree of a file. */
export interface Syntax {
  readonly type: string
  readonly [field: string]: unknown
}

export const isSyntax = (value: unknown): value is Syntax =>
  typeof value === 'object' && value !== null && typeof (value as Syntax).type === 'string'

export const programOf = (path: string, code: string): Syntax => parseSync(path, code).program as unknown as Syntax
export const childrenOf = (node: Syntax): Syntax[] => Object.values(node).flat().filter(isSyntax)
export const everythingIn = (node: Syntax): Syntax[] => [node, ...childrenOf(node).flatMap(everythingIn)]
/** The name of an identifier, or the text of a literal that is used as one. */
export const nameOf = (node: unknown): string => (isSyntax(node) ? String(node.name ?? node.value ?? '') : '')

/** Every file below a folder, as paths from the root of the repository. */
export function filesUnder(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (NOT_OURS.has(entry.name)) return []
    if (entry.isDirectory()) return filesUnder(path)
    return entry.isFile() ? [path] : []
  })
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export function sourcesOf(...folders: string[]): Source[] {
  const isSource = (path: string) => /\.tsx?$/.test(path) && folders.some((folder) => path.startsWith(`${folder}/`))
  return filesUnder('.')
    .filter(isSource)
    .map((path) => parse(path, textOf(path)))
}

/** The code without its comments, and what it imports in any of the ways there are. */
export function parse(path: string, text: string): Source {
  const { comments, module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const written = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1)),
  ]
  const imports = new Set(written.filter((name) => name !== undefined).map((name) => resolve(path, name)))
  const named = [
    ...module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName }) => [moduleRequest.value, importName.name] as const),
    ),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.map(({ moduleRequest, importName }) => [moduleRequest?.value, importName.name] as const),
    ),
    ...module.dynamicImports.map(
      ({ moduleRequest }) => [text.slice(moduleRequest.start + 1, moduleRequest.end - 1), null] as const,
    ),
  ]
  const names = named.flatMap(([from, name]) => (from === undefined ? [] : [`${resolve(path, from)}: ${name ?? '*'}`]))
  const exports = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName }) => exportName.name ?? []),
  )
  const code = comments.reduceRight((rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`, text)
  return { path, code, imports: [...imports], names, exports }
}

function resolve(path: string, name: string): string {
  if (name.startsWith('#')) return `${name.slice(1)}.ts`
  return name.startsWith('.') ? join(path, '..', name) : name
}

/** Where a pattern occurs, told as `path: what`. */
export function findings(sources: readonly Source[], pattern: RegExp, isAllowed = (_path: string) => false): string[] {
  const judged = sources.filter(({ path }) => !isAllowed(path))
  return judged.flatMap(({ path, code }) => [...code.matchAll(pattern)].map((match) => `${path}: ${match[0]}`))
}
