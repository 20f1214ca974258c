import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { api } from '#shared/api/index'
import { operationsOf } from '#shared/kit/contract'
import { filesUnder, parse, type Source, sourcesOf, textOf } from '#test/laws/sources'
import { root } from './files.ts'

/** Registries list everything. What they name counts only where a test names it itself. */
const registries = new Set(['server/domains/index.ts', 'shared/api/index.ts'])

/** What `scripts/build.mjs` makes programs of, for tests that start these. */
const programs = [
  ...['server/main.ts', 'server/cli.ts', 'server/media/main.ts', 'server/media/finalizer.ts'],
  ...['server/ports/reader/process.ts', 'scripts/build.mjs'],
]

let read: Map<string, Source> | undefined

function sources(): Map<string, Source> {
  read ??= new Map(
    [
      ...sourcesOf('server', 'shared', 'client', 'test', 'scripts'),
      ...filesUnder('scripts').filter(isModule).map(moduleOf),
    ].map((source) => [source.path, source]),
  )
  return read
}

const closures = new Map<string, ReadonlySet<string>>()

/**
 * The files and folders that a test file depends on, as paths from the root: what it imports, the domains whose operations it
 * calls, and the files that it names.
 */
export function foldersOf(test: string): readonly string[] {
  const own = reachedFrom(test)
  const started = own.has('test/support/programs.ts') ? programs.flatMap((path) => [...reachedFrom(path)]) : []
  const written = [...own, ...started].filter((path) => /^(test|scripts)\//.test(path))
  const named = written.flatMap((path) => [...filesNamedIn(path), ...domainsUsedIn(path).flatMap(filesOfDomain)])
  const all = new Set([...own, ...started, ...named, ...domainsNamedBy(test).flatMap(filesOfDomain)])
  const folders = [...all].map(folderOf)
  return [...new Set([...folders, ...wholeFoldersOf(test), 'package-lock.json', 'vitest.config.ts'])].sort()
}

/** Tests in a browser use the page as it is built, and laws read the sources. */
function wholeFoldersOf(test: string): string[] {
  if (test.startsWith('test/browser/')) return ['client', 'shared', 'vite.config.ts']
  return test.startsWith('test/laws/') ? ['client', 'server', 'shared', 'test/support'] : []
}

/** The folder that stands for a source of the product; of anything else the file itself. */
export function folderOf(path: string): string {
  const [, folder] =
    /^((?:server\/(?:domains\/[^/.]+|ports)|client\/web|server|client|shared)\/[^/.]+)\/./.exec(path) ?? []
  return folder === undefined || folder === 'shared/api' || /^server\/domains(\/[^/]+)?$/.test(folder) ? path : folder
}

/** What a file imports, and what these import in turn; of a registry, what it passes on to every server. */
function reachedFrom(start: string): ReadonlySet<string> {
  const known = closures.get(start)
  if (known) return known
  const reached = new Set<string>()
  const left = [start]
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (reached.has(path)) continue
    if (registries.has(path)) {
      left.push(...passedOnBy(path))
      continue
    }
    reached.add(path)
    left.push(...(sources().get(path)?.imports ?? []).filter(isOurs))
  }
  closures.set(start, reached)
  return reached
}

const passedOnBy = (registry: string): string[] =>
  [...textOf(registry).matchAll(/export \{[^}]+\} from '\.\/([^']+)'/g)].map(([, path = '']) =>
    join(dirname(registry), path),
  )

const isOurs = (path: string) => /^(server|shared|client|test|scripts)\//.test(path) && existsSync(join(root, path))

/** Paths between quotes, from the root or from the file: documents, programs, vectors, and what these import in turn. */
function filesNamedIn(path: string): string[] {
  const code = sources().get(path)?.code ?? ''
  const quoted = [...code.matchAll(/['"`]((?:\.{1,2}\/|(?:server|client|shared|docs|scripts|deploy|test)\/)[\w./-]+)/g)]
  return quoted.flatMap(([, name = '']) => {
    const found = name.startsWith('.') ? join(dirname(path), name) : name
    // A whole part of the repository is no file that a test names; `test` would hold the file of what is verified.
    if (!found.includes('/') || name.includes('/../') || !existsSync(join(root, found))) return []
    return sources().has(found) ? [...reachedFrom(found)] : [found.replace(/\/$/, '')]
  })
}

const isModule = (path: string) => path.endsWith('.mjs')

/** A module of plain JavaScript, as `sourcesOf` gives those of TypeScript. */
const moduleOf = (path: string): Source => parse(path, textOf(path))

/** The registry of domains, by the contract that each implements. */
function domainsByContract(): ReadonlyMap<string, string> {
  const folderByName = importsOf('server/domains/index.ts', /^\.\/([\w-]+\/[\w-]+)\//)
  const fileByName = importsOf('shared/api/index.ts', /^\.\/([\w-]+\/[\w-]+\.ts)$/)
  return new Map(
    [...fileByName].flatMap(([name, file]) => {
      const folder = folderByName.get(name)
      return folder === undefined ? [] : [[`shared/api/${file}`, folder] as const]
    }),
  )
}

/** What a registry imports, as the part of the path that the pattern takes, by name. */
function importsOf(registry: string, pattern: RegExp): Map<string, string> {
  const imports = textOf(registry).matchAll(/import (?:type )?\{ ([^}]+) \} from '([^']+)'/g)
  return new Map(
    [...imports].flatMap(([, names = '', from = '']) => {
      const [, part] = pattern.exec(from) ?? []
      return part === undefined ? [] : names.split(', ').map((name) => [name.replace('type ', ''), part] as const)
    }),
  )
}

let contracts: ReadonlyMap<string, string> | undefined
let calls: readonly { patterns: readonly RegExp[]; events: readonly string[]; domain: string }[] | undefined

/** The domains whose contracts a file imports, and whose routes and events it names. */
function domainsUsedIn(test: string): string[] {
  contracts ??= domainsByContract()
  calls ??= callsOf()
  const { code = '', imports = [] } = sources().get(test) ?? {}
  const imported = imports.flatMap((path) => contracts?.get(path) ?? [])
  const routes = [...code.matchAll(/\/(?:api|files|hls)\/[^'"`\s?]*/g)].map(([path]) =>
    path.replace(/\$\{[^}]*\}/g, 'x'),
  )
  const events = new Set([...code.matchAll(/['"`]([a-z_-]+:[a-z_-]+)['"`]/g)].map(([, event = '']) => event))
  const called = calls.filter(
    ({ patterns, events: own }) =>
      own.some((event) => events.has(event)) || patterns.some((pattern) => routes.some((route) => pattern.test(route))),
  )
  return [...new Set([...imported, ...called.map(({ domain }) => domain)])]
}

function callsOf() {
  const folderByName = importsOf('server/domains/index.ts', /^\.\/([\w-]+\/[\w-]+)\//)
  return operationsOf(api).flatMap(({ name, operation }) => {
    const domain = folderByName.get(name.split('.', 1)[0] ?? '')
    if (domain === undefined) return []
    const events = operation.socket ? [operation.socket.split(' ')[1] ?? ''] : []
    const routes = [operation.http, ...(operation.aliases ?? []).map(({ http }) => http)].filter(
      (one) => one !== undefined,
    )
    return [{ patterns: routes.map(patternOf), events, domain }]
  })
}

function patternOf(route: string): RegExp {
  const path = route
    .replace(/\?.*|^\w+ /g, '')
    .replace('{room}', '[^/]+(?:/[^/]+)?')
    .replace(/:\w+/g, '[^/]+')
  return new RegExp(`^${path}$`)
}

let domains: readonly string[] | undefined

/** As of `streams` in `stream-chat.test.ts`: what a file is about stands at the beginning of its name. */
function domainsNamedBy(test: string): string[] {
  domains ??= foldersIn('server/domains').flatMap((hood) =>
    foldersIn(`server/domains/${hood}`).map((name) => `${hood}/${name}`),
  )
  const name = test.slice(test.lastIndexOf('/') + 1)
  return domains.filter((domain) => name.startsWith(basename(domain).replace(/s$/, '')))
}

const foldersIn = (path: string): string[] =>
  readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

const filesOfDomain = (domain: string): string[] => [
  ...new Set(
    [...sources().keys()]
      .filter((path) => path.startsWith(`server/domains/${domain}/`))
      .flatMap((path) => [...reachedFrom(path)]),
  ),
]
