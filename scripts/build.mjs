import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneFile, oneScript } from './one-file.mjs'
import { packPage } from './pack-page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const at = (path) => join(root, path)

const parts = [
  { name: 'page', entry: 'page.pack', sources: ['client', 'shared', 'vite.config.ts'], settings: {} },
  { name: 'server', entry: 'main.js', sources: ['server', 'shared'], write: bundleServer },
  {
    name: 'reader',
    entry: 'main.js',
    sources: ['server/ports/reader', 'shared'],
    settings: oneFile(at('server/ports/reader/process.ts')),
    beside: { cmaps: 'node_modules/pdfjs-dist/cmaps' },
  },
  {
    name: 'media',
    entry: 'main.js',
    sources: ['server/media', 'server/ports/video'],
    settings: oneFile(at('server/media/main.ts')),
  },
  {
    name: 'finalizer',
    entry: 'main.js',
    sources: ['server/media'],
    settings: oneFile(at('server/media/finalizer.ts')),
  },
  { name: 'cli', entry: 'main.js', sources: ['server', 'shared'], settings: oneFile(at('server/cli.ts')) },
  {
    name: 'docs',
    entry: 'openapi.json',
    sources: ['shared', 'server/kernel/limits/limits.ts', 'docs/examples.json'],
    write: (folder) => execFileSync(process.execPath, ['--import', 'tsx', 'scripts/docs.ts', folder], { cwd: root }),
  },
]
const common = ['scripts', 'package-lock.json']

const stale = parts.filter((part) => !isFresh(part))
if (stale.length > 0 && !hasTools()) goWithout(stale)
else for (const part of stale) await build(part)

/** Not in an image, nor after `npm ci --omit=dev`. */
function hasTools() {
  try {
    return Boolean(import.meta.resolve('vite'))
  } catch {
    return false
  }
}

/** What was built elsewhere runs as it is. */
function goWithout(stale) {
  const missing = stale.filter(({ name, entry }) => !existsSync(at(`dist/${name}/${entry}`)))
  const names = (listed) => listed.map(({ name }) => `dist/${name}`).join(', ')
  if (missing.length === 0)
    return console.error(`${names(stale)}: older than the sources. The tools to build are not installed.`)
  console.error(`${names(missing)}: not built, and the tools to build are not installed: run npm ci --include=dev.`)
  process.exit(1)
}

function isFresh({ name, entry, sources }) {
  const built = statSync(at(`dist/${name}/${entry}`), { throwIfNoEntry: false })
  return built !== undefined && Math.max(...[...sources, ...common].map((path) => newest(at(path)))) <= built.mtimeMs
}

function newest(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

/** Builds into a separate folder, and renames it, so that no build is half done. Of simultaneous builds the first stays. */
async function build(part) {
  const { name, settings, write = bundle, beside = {} } = part
  process.env.NODE_ENV = 'production'
  mkdirSync(at('dist'), { recursive: true })
  const fresh = mkdtempSync(at(`dist/${name}-`))
  try {
    await write(fresh, settings)
    if (name === 'page') packPage(fresh)
    for (const [folder, from] of Object.entries(beside)) cpSync(at(from), join(fresh, folder), { recursive: true })
    // Other accounts than the builder's may run it.
    chmodSync(fresh, 0o755)
    if (!isFresh(part)) replace(at(`dist/${name}`), fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

async function bundle(outDir, settings) {
  const vite = await import('vite')
  await vite.build({ ...settings, logLevel: 'error', build: { ...settings.build, outDir } })
}

/** The server runs by code that V8 compiles at the build. The process that leads it has a small file of its own. */
async function bundleServer(folder) {
  const [compiled, script] = ['compiled.js', 'serve.cjs'].map((name) => join(folder, name))
  await bundle(folder, oneFile(at('server/main.ts'), { './serve.ts': './compiled.js' }))
  await bundle(folder, oneScript(at('server/serve.ts'), 'serve'))
  writeFileSync(script, inFunction(inLatin(readFileSync(script, 'utf8'))))
  cpSync(at('scripts/compiled.mjs'), compiled)
  const saving = [...startOptions(), at('scripts/save-code.mjs'), compiled]
  const { status } = spawnSync(process.execPath, saving, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 120_000 })
  if (status !== 0) console.error('dist/server: it starts slowly, as its compiled code was not saved.')
}

/** As Node runs a script. */
function inFunction(code) {
  return `(function (exports, require, module, __filename, __dirname) {${code}\n})`
}

/** One letter beyond Latin would make V8 keep each letter of a file in two bytes. */
function inLatin(code) {
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  // An odd backslash before such a letter says nothing, and would end the escape.
  return code.replace(
    /(\\*)([\u0080-\uffff])/g,
    (_, before, letter) => before.slice(before.length % 2) + escaped(letter),
  )
}

/** V8 takes compiled code only under the options under which it was compiled. */
function startOptions() {
  const { scripts } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

function replace(place, fresh) {
  const old = `${fresh}-old`
  if (existsSync(place)) rename(place, old, ['ENOENT'])
  rename(fresh, place, ['ENOTEMPTY', 'EEXIST'])
  rmSync(old, { recursive: true, force: true })
}

/** Two that build at once are each content with what the other has put there. */
function rename(from, to, expected) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!expected.includes(error.code)) throw error
  }
}
