import { describe, expect, test } from 'vitest'
import { childrenOf, findings, nameOf, parse, programOf, type Source, type Syntax, sourcesOf } from './sources.ts'

const FOLDER = /^(server|client|shared)\//
const PORT = /^server\/ports\/[^/]+\/port\.ts$/

/** The first layer that a path belongs to says what it may import of ours. */
const LAYERS: readonly (readonly [layer: RegExp, allowed: RegExp])[] = [
  [/^shared\/errors\.ts$/, /^$/],
  [/^shared\/kit\//, /^shared\/(kit\/|errors\.ts)/],
  [/^shared\/api\//, /^shared\//],
  [/^server\/log\/store\.ts$/, /^server\/(log\/|ports\/database\/port\.ts)/],
  [/^server\/log\//, /^(server\/log\/|shared\/(errors|kit\/field-name)\.ts)/],
  [PORT, /^$/],
  [
    /^server\/ports\//,
    /^(server\/(ports\/|media\/messages\.ts|kernel\/(beat|fetch|few-at-once|make-directory)\.ts)|shared\/(errors|kit\/file-(name|type))\.ts)/,
  ],
  [/^server\/kernel\//, /^(server\/(kernel\/|log\/types\.ts|ports\/[^/]+\/port\.ts)|shared\/(kit\/|errors\.ts))/],
  [/^server\/domains\/moderation\/verdict\//, /^(server\/domains\/(moderation\/verdict|rooms\/text)\/|shared\/)/],
  [
    /^server\/domains\/rooms\/room-state\//,
    /^(server\/(domains\/(rooms\/(room-state|events|text)|people\/accounts|moderation\/verdict)\/|domains\/events\.ts$|kernel\/(?!fetch\.ts)|log\/|ports\/[^/]+\/port\.ts)|shared\/)/,
  ],
  [/^server\/domains\//, /^(server\/(domains|kernel(?!\/fetch\.ts)|log)\/|server\/ports\/[^/]+\/port\.ts|shared\/)/],
  [/^server\/demo\//, /^(server\/(demo|domains|kernel)\/|shared\/)/],
  [/^server\/(environment|session-keys)\.ts$/, /^server\/kernel\/(settings|make-directory)\.ts$/],
  [
    /^server\/config\//,
    /^(server\/(config\/|(environment|session-keys)\.ts|kernel\/|media\/messages\.ts|ports\/[^/]+\/port\.ts)|shared\/)/,
  ],
  [/^server\/platform\//, /^server\/((platform|kernel|log|ports)\/|(config|session-keys)\.ts)/],
  [/^server\/media\//, /^server\/(media\/|ports\/video\/port\.ts|kernel\/(addresses|make-directory|opens)\.ts)/],
  [/^server\/[^/]+\.ts$/, /^(server\/(?!domains\/)|server\/domains\/index\.ts$|shared\/)/],
  [/^client\/sdk\//, /^(client\/sdk|shared)\//],
  [/^client\/web\//, /^(client|shared)\//],
]

const PACKAGES: readonly (readonly [name: RegExp, place: RegExp])[] = [
  [/^lmdb(\/|$)/, /^server\/ports\/database\/embedded\/environment\.ts$/],
  [/^(mongoose|mongodb|mingo)(\/|$)/, /^server\/((.+\/)?model\.ts|log\/store\.ts|ports\/database\/.+)$/],
  [/^undici(\/|$)/, /^server\/ports\/web\/guarded\.ts$/],
  [/^(socket\.io|engine\.io)(\/|$)/, /^server\/kernel\/(sockets|sockets\/\w+)\.ts$/],
  [/^@base-ui\//, /^client\/web\/kit\//],
]

/** Programs beside the server, in which bytes of strangers are read, without what starts and asks them. */
const READERS = /^server\/(media\/(?!messages\.ts$)|ports\/reader\/(?!(local|port|questions)\.ts$))/
/** What reads pages, documents, pictures, sound, films, calendars, letters and archives, by the names that such packages have. */
const PARSERS =
  /^(@mozilla\/readability|@?mediabunny|chardet|cheerio|opus-decoder|werift|sharp|jimp|jschardet|mammoth|xlsx)(\/|$)|html|linkedom|jsdom|pdf|exif|image-size|file-type|ffmpeg|music-metadata|^(node-)?ical|mailparser|xml|csv|zip|^tar(-|$)/
/** What reads files of our own byte by byte: the embedded store. */
const OWN_FILES = /^server\/ports\/database\/embedded\//
const BYTES = /\.read(Big)?(U?Int|Float|Double)(8|16|32|64)?(BE|LE)?\(|\bDataView\(/g

/** What domains ask of the operations of rooms: who signs in joins alpha, and a stream has a room of its own. */
const ASKED_OF_ROOMS = [
  'server/domains/people/federation/index.ts -> server/domains/rooms/rooms/partner-channel.ts',
  'server/domains/people/identity/service-tokens.ts -> server/domains/rooms/rooms/alpha.ts',
  'server/domains/people/identity/sign-in.ts -> server/domains/rooms/rooms/alpha.ts',
  'server/domains/streams/streams/life.ts -> server/domains/rooms/rooms/founding.ts',
]

describe('the house', () => {
  const everywhere = sourcesOf('server', 'client', 'shared', 'test', 'scripts')
  const sources = everywhere.filter(({ path }) => FOLDER.test(path))

  test('imports run along the layers', () => expect(misplaced(sources)).toEqual([]))

  test('no file imports itself in a circle', () => {
    // Translations have the type of the catalog that loads them, and import nothing else.
    const loading = sources.filter(({ path }) => !/^client\/web\/texts\/\w+\//.test(path))
    expect(circles(graphOf(loading, (path) => path))).toEqual([])
  })

  test('no domain imports itself in a circle', () => {
    const domains = graphOf(sources, (path) => /^server\/domains\/([^/]+\/[^/]+)\//.exec(path)?.[1])
    expect(circles(domains)).toEqual([])
  })

  test('N41: domains stand on the state of rooms, not on its operations', () => {
    expect(askedOfRooms(sources).sort()).toEqual(ASKED_OF_ROOMS)
  })

  test.each([
    [
      'server/domains/moderation/moderation/a.ts',
      "import { found } from '#server/domains/rooms/rooms/founding'\nexport const a = found",
    ],
    ['server/domains/rooms/messages/a.ts', "export { found } from '../rooms/founding.ts'"],
    ['server/domains/rooms/room-state/a.ts', "import { found } from '../rooms/founding.ts'\nexport const a = found"],
  ])('that law sees: %s', (path, code) => {
    const planted = [parse(path, code), parse('server/domains/rooms/rooms/a.ts', code)]
    expect(askedOfRooms(planted)).toEqual([`${path} -> server/domains/rooms/rooms/founding.ts`])
  })

  test('the state of rooms stands on no domain that stands on it', () => {
    const code = "import { tokenAt } from '#server/domains/rooms/tokens/metadata'\nexport const a = tokenAt"
    expect(misplaced([parse('server/domains/rooms/room-state/a.ts', code)])).toHaveLength(1)
  })

  test('O01: bytes of strangers are read beside the loop that serves everybody', () => {
    expect(readOnTheLoop(sources)).toEqual([])
  })

  test.each([
    ["import { readPicture } from '#server/ports/reader/pictures/read'\nexport const a = readPicture"],
    ["export const a = () => import('#server/ports/reader/document')"],
    ["export { readHtml } from '#server/ports/reader/html'"],
    ["import { FlvReader } from '#server/media/flv'\nexport const a = FlvReader"],
    ["import { Parser } from 'htmlparser2'\nexport const a = Parser"],
    ["import sharp from 'sharp'\nexport const a = sharp"],
    ["export const a = () => import('fast-xml-parser')"],
    ['export const widthOf = (png: Buffer) => png.readUInt32BE(16)'],
    ['export const widthOf = (png: ArrayBuffer) => new DataView(png).getUint32(16)'],
  ])('that law sees: %s', (code) => {
    for (const path of ['server/domains/media/uploads/a.ts', 'server/kernel/a.ts', 'server/ports/reader/local.ts'])
      expect(readOnTheLoop([parse(path, code)])).toHaveLength(1)
    expect(readOnTheLoop([parse('server/ports/reader/a.ts', code)])).toEqual([])
  })

  test('each export is imported by another file', () => expect(unusedExports(everywhere)).toEqual([]))

  test('that law sees a value and a type that only their own file uses', () => {
    const planted = [
      parse(
        'shared/kit/a.ts',
        'export const [a, b] = [1, 2]\nexport type C = string\nexport const d = (c: C) => c + b',
      ),
      parse('test/unit/a.test.ts', "import { a, d } from '#shared/kit/a'\nexport const e = a + d"),
      parse('client/sdk/index.ts', 'export const toOthers = 1'),
    ]
    expect(unusedExports(planted)).toEqual(['shared/kit/a.ts: b', 'shared/kit/a.ts: C'])
  })

  test('adapters are named by the platform alone', () => {
    const named = sources.flatMap(({ path, imports }) =>
      imports.filter((to) => isForeignAdapter(path, to)).map((to) => `${path} -> ${to}`),
    )
    expect(named).toEqual([])
  })

  test('each port has an adapter beside it that reaches no other machine, and the server runs on no fake', () => {
    const portOf = (path: string) => path.split('/')[2]
    const paths = sources.map(({ path }) => path).filter((path) => path.startsWith('server/ports/'))
    const alone = paths
      .filter((path) => /\/(captured|embedded|fake|local|local-embedder|memory|none|scripted)\.ts$/.test(path))
      .map(portOf)
    // Only adapters use that one: what needs no Redis has an adapter without it.
    expect(
      paths
        .filter((path) => PORT.test(path))
        .map(portOf)
        .filter((port) => !alone.includes(port)),
    ).toEqual(['redis'])
    expect(sources.filter(({ imports }) => imports.some((to) => /\/fake\.ts$/.test(to)))).toEqual([])
  })

  test('domains reach other machines through ports alone', () => {
    expect(sources.flatMap(reachedFrom)).toEqual([])
  })

  test.each([
    "export const a = () => fetch('https://a.test')",
    "export const a = () => globalThis['fetch']('https://a.test')",
    "import { request } from 'node:https'\nexport const a = request",
    "import { request } from 'http'\nexport const a = request",
    "import { connect } from 'node:net'\nexport const a = connect",
    "import { request } from 'undici'\nexport const a = request",
    "import { createPublicClient } from 'viem'\nexport const a = createPublicClient",
    "import { type Hex, http } from 'viem'\nexport const a = http",
    "import * as viem from 'viem'\nexport const a = viem",
    "import { fetchText } from '#server/kernel/fetch'\nexport const a = fetchText",
  ])('that law sees: %s', (code) => {
    const planted = parse('server/domains/rooms/rooms/a.ts', code)
    expect([...reachedFrom(planted), ...misplaced([planted])]).not.toEqual([])
  })

  test('adapters ask over HTTP by one guarded fetch', () => {
    const others = sources.filter(({ path }) => path.startsWith('server/') && path !== 'server/kernel/fetch.ts')
    expect(findings(others, /(?<![\w-])fetch\(/g)).toEqual([])
    expect(
      findings([parse('server/ports/a/http.ts', "export const a = () => fetch('https://a.test')")], /fetch\(/g),
    ).toHaveLength(1)
  })

  test('folders are made by one helper, as the way of Node never ends below `/proc`', () => {
    const others = sources.filter(({ path }) => path.startsWith('server/'))
    const endless = /\bmkdir(Sync)?\([^;]*?recursive: true/g
    expect(findings(others, endless)).toEqual([])
    expect(findings([parse('server/a.ts', 'await mkdir(join(a, b), { recursive: true })')], endless)).toHaveLength(1)
  })

  test('only the configuration reads the environment', () => {
    // Which process leads is known before the configuration is loaded.
    const others = sources.filter(({ path }) => path !== 'server/environment.ts' && path !== 'server/lead.ts')
    expect(others.flatMap(environmentIn)).toEqual([])
  })

  test.each([
    'process.env.A',
    'process?.env',
    "process['env']",
    'process[name]',
    'const { env } = process',
    'const p = process',
    "import p from 'node:process'",
    "import { env } from 'process'",
    "const a = await import('node:process')",
    'const a = globalThis.process.env',
    'const a = { process }',
  ])('that law sees: %s', (code) => {
    expect(environmentIn(parse('server/kernel/a.ts', code))).not.toEqual([])
  })

  test('an action is called by the pipeline alone', () => {
    const server = sources.filter(({ path }) => path.startsWith('server/'))
    // That of an entry names what a moderator did.
    expect(findings(server, /(?<!\bentry\??)\.action\s*\(/g, (path) => path === 'server/kernel/invoke.ts')).toEqual([])
    expect(actionsCalled(server)).toEqual([])
  })

  test.each([
    ["import { setTopic } from '#server/domains/rooms/rooms/topic'\nexport const a = setTopic"],
    ["import { setTopic as a } from '../rooms/topic.ts'\nexport { a }"],
    ["export { setTopic } from '../rooms/topic.ts'"],
    ["import * as topic from '../rooms/topic.ts'\nexport const a = topic"],
    ["export const a = () => import('../rooms/topic.ts')"],
    ['const a: Action<typeof contract.a> = (input) => input\nexport const b = () => a({})'],
  ])('that law sees: %s', (code) => {
    const action = 'export const setTopic: Action<typeof contract.setTopic> = () => null'
    const planted = [
      parse('server/domains/rooms/rooms/topic.ts', action),
      parse('server/domains/rooms/inbox/a.ts', code),
    ]
    expect(actionsCalled(planted)).toHaveLength(1)
    const bound = "import { setTopic } from './topic.ts'\nexport const actions = { setTopic }"
    expect(actionsCalled(planted.slice(0, 1).concat(parse('server/domains/rooms/rooms/index.ts', bound)))).toEqual([])
  })

  test('M30: lmdb is loaded in one place, by what has the lock of the directory', () => {
    const openers = everywhere.filter(({ code, imports }) => imports.includes('lmdb') || /['"`]lmdb['"`]/.test(code))
    expect(openers.map(({ path }) => path).filter((path) => !path.startsWith('test/laws/'))).toEqual([
      'server/ports/database/embedded/environment.ts',
    ])
    const [opener] = openers.filter(({ path }) => path.startsWith('server/'))
    expect(opener?.code).toMatch(
      /export async function openEnvironment\(\{ directory \}: Lock\)[\s\S]*path: directory,/,
    )
    const locks = findings(everywhere, /\bLock = \{|\bas (unknown as )?Lock\b|: Lock => \(\{|<Lock>\{/g)
    expect(locks).toEqual([])
  })

  test('catches what is planted', () => {
    const planted = [
      parse('shared/kit/a.ts', "import { b } from './b.ts' // import '#server/app'\nexport const a = b"),
      parse('shared/kit/b.ts', "export { a as b } from '#shared/kit/a'\nexport const c = () => import('#server/app')"),
      parse('server/domains/rooms/rooms/members.ts', "import mongoose from 'mongoose'\nexport const m = mongoose"),
      parse('client/web/rooms/menu.tsx', "import { Menu } from '@base-ui/react/menu'\nexport const M = Menu"),
    ]
    expect(misplaced(planted)).toEqual([
      'shared/kit/b.ts -> server/app.ts',
      'server/domains/rooms/rooms/members.ts -> mongoose',
      'client/web/rooms/menu.tsx -> @base-ui/react/menu',
    ])
    expect(circles(graphOf(planted, (path) => path))).toEqual(['shared/kit/a.ts -> shared/kit/b.ts -> shared/kit/a.ts'])
  })
})

/** Where a file may read the environment: by that name, by one that is computed, or by another name for the process. */
function environmentIn({ path, code, imports }: Source): string[] {
  const within = (node: Syntax): string[] => {
    if (node.type === 'Identifier') return nameOf(node) === 'process' ? [`${path}: process`] : []
    const [object, property] = [nameOf(node.object), nameOf(node.property)]
    if (node.type === 'MemberExpression' && object === 'process' && !node.computed && property !== 'env') return []
    if (property === 'process' && /^global(This)?$/.test(object)) return [`${path}: ${object}.process`]
    const names = node.computed || node.shorthand ? [] : [node.key, node.property]
    return childrenOf(node)
      .filter((child) => !names.includes(child))
      .flatMap(within)
  }
  const found = code.includes('process') ? within(programOf(path, code)) : []
  return [...found, ...imports.filter((name) => /^(node:)?process$/.test(name)).map((name) => `${path} -> ${name}`)]
}

/** Actions that another file than the `index.ts` of their domain imports, or that the file which has them calls. */
function actionsCalled(sources: readonly Source[]): string[] {
  const action = /^(export )?const (\w+): Action</gm
  return sources.flatMap(({ path, code }) => {
    const index = path.replace(/[^/]+$/, 'index.ts')
    return [...code.matchAll(action)].flatMap(([, isExported, name]) => {
      const called = new RegExp(`(?<![\\w.])${name}\\(`).test(code) ? [`${path} calls ${name}`] : []
      const taken = sources.filter(
        (source) =>
          source.path !== index && source.names.some((one) => one === `${path}: ${name}` || one === `${path}: *`),
      )
      return [...called, ...(isExported ? taken.map((source) => `${source.path} imports ${name} of ${path}`) : [])]
    })
  })
}

/** What reads bytes of strangers in the process of the server: by a module of those programs, a package, or byte by byte. */
function readOnTheLoop(sources: readonly Source[]): string[] {
  const isBeside = (path: string) => READERS.test(path) || path.startsWith('server/media/')
  const onTheLoop = sources.filter(({ path }) => path.startsWith('server/') && !isBeside(path))
  const loaded = onTheLoop.flatMap(({ path, imports }) =>
    imports.filter((to) => READERS.test(to) || (!FOLDER.test(to) && PARSERS.test(to))).map((to) => `${path} -> ${to}`),
  )
  return [...loaded, ...findings(onTheLoop, BYTES, (path) => OWN_FILES.test(path))]
}

/** What opens connections: modules and packages, and what is called; a phase of an answer has one of these names. */
const network =
  /^((node:)?(http|http2|https|net|tls|dgram|dns|dns\/promises|child_process|worker_threads)|undici|axios|ws|ioredis|nodemailer)$/
const asking =
  /(?<![\w-]|phase: ')fetch\b(?!-)|\b(create(Public|Wallet|Test)?Client|createRemoteJWKSet|XMLHttpRequest|WebSocket|EventSource)\b|import [^;'"]*(\{[^}]*(?<!type )\bhttp\b|\* as )[^;'"]*from 'viem'/g

/** Where a domain imports operations of rooms; the registry binds them. */
function askedOfRooms(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    /^server\/domains\/(?!rooms\/rooms\/)[^/]+\/[^/]+\//.test(path)
      ? imports.filter((to) => to.startsWith('server/domains/rooms/rooms/')).map((to) => `${path} -> ${to}`)
      : [],
  )
}

function reachedFrom(source: Source): string[] {
  if (!/^server\/(domains|demo|log)\//.test(source.path)) return []
  const imported = source.imports.filter((name) => network.test(name)).map((name) => `${source.path} -> ${name}`)
  return [...imported, ...findings([source], asking)]
}

function misplaced(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.filter((to) => !mayImport(path, to)).map((to) => `${path} -> ${to}`),
  )
}

function mayImport(path: string, to: string): boolean {
  if (FOLDER.test(to)) return LAYERS.find(([layer]) => layer.test(path))?.[1].test(to) ?? false
  if (path === 'shared/kit/markup.ts' && /^(mdast-util|micromark)-/.test(to)) return true
  if (path.startsWith('shared/')) return to === 'zod'
  return PACKAGES.every(([name, place]) => !name.test(to) || place.test(path))
}

function isForeignAdapter(path: string, to: string): boolean {
  if (!to.startsWith('server/ports/') || PORT.test(to) || /^server\/platform(\.ts$|\/)/.test(path)) return false
  return to.split('/')[2] !== path.split('/')[2] || !path.startsWith('server/ports/')
}

/** Exports that no other file imports. The index of the SDK is for programs of others. */
function unusedExports(everywhere: readonly Source[]): string[] {
  const imported = new Set(everywhere.flatMap(({ names }) => names))
  const judged = everywhere.filter(({ path }) => !/^(test\/|client\/sdk\/index\.ts$)/.test(path))
  return judged
    .filter(({ path }) => !imported.has(`${path}: *`))
    .flatMap(({ path, exports }) => exports.map((name) => `${path}: ${name}`))
    .filter((found) => !imported.has(found))
}

function graphOf(sources: readonly Source[], nodeOf: (path: string) => string | undefined): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of sources) {
    const from = nodeOf(path)
    if (from === undefined) continue
    const reached = imports.map(nodeOf).filter((to): to is string => to !== undefined && to !== from)
    graph.set(from, new Set([...(graph.get(from) ?? []), ...reached]))
  }
  return graph
}

function circles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>()
  const visit = (node: string, trail: readonly string[]): string[] => {
    if (trail.includes(node)) return [[...trail.slice(trail.indexOf(node)), node].join(' -> ')]
    if (done.has(node)) return []
    const found = [...(graph.get(node) ?? [])].flatMap((next) => visit(next, [...trail, node]))
    done.add(node)
    return found
  }
  return [...graph.keys()].flatMap((node) => visit(node, []))
}
