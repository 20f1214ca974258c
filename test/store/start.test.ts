import {
  type ChildProcessByStdio,
  type SpawnOptionsWithStdioTuple,
  type StdioNull,
  type StdioPipe,
  spawn,
  spawnSync,
} from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { build, startOptions } from '#test/support/programs'

const root = fileURLToPath(new URL('../..', import.meta.url))
beforeAll(build)

test('npm start serves the page, and the server stops when npm is stopped', async () => {
  const startedAt = Date.now()
  const { npm, url } = await start(root)
  const page = await fetch(url)
  expect(await page.text()).toContain('<div id="page">')
  for (const path of ['/docs', '/docs/openapi.json', '/docs/asyncapi.json'])
    expect({ path, status: (await fetch(`${url}${path}`)).status }).toEqual({ path, status: 200 })
  expect(Date.now() - startedAt).toBeLessThan(30_000)

  npm.kill('SIGTERM')
  await once(npm, 'exit')
  await expect(fetch(url)).rejects.toThrow()
})

test('M20: the files of the image start without the build tools, and serve the page and the documents', async () => {
  const image = temporary()
  for (const path of copiedIntoTheImage()) cpSync(join(root, path), join(image, path), { recursive: true })
  for (const name of installedToRun()) {
    mkdirSync(dirname(join(image, 'node_modules', name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(image, 'node_modules', name))
  }
  // Node resolves packages at the path of the links, not of their targets.
  const { url } = await start(image, { NODE_OPTIONS: '--preserve-symlinks' })
  const documents = ['/docs', '/docs/openapi.json', '/docs/asyncapi.json', '/docs/rest', '/docs/rest.md']
  for (const path of ['/', ...documents, '/docs/socket.io.js', '/docs/swagger-ui.js'])
    expect({ path, status: (await fetch(`${url}${path}`)).status }).toEqual({ path, status: 200 })
})

test('M20: a start without build tools and without a build reports that', async () => {
  const image = temporary()
  for (const path of copiedIntoTheImage())
    if (path !== 'dist') cpSync(join(root, path), join(image, path), { recursive: true })
  await expect(start(image)).rejects.toThrow(/not built, and the tools to build are not installed/)
})

test.each([
  ['by its compiled code', () => {}, startOptions(), 'false'],
  ['without its compiled code', (folder: string) => rmSync(join(folder, 'serve.code')), startOptions(), 'undefined'],
  ['beside damaged code', (folder: string) => damage(join(folder, 'serve.code')), startOptions(), 'undefined'],
  ['beside code of another source', (folder: string) => edit(join(folder, 'serve.cjs')), startOptions(), 'undefined'],
  ['under other options than its code', () => {}, [...startOptions(), '--no-flush-bytecode'], 'true'],
])('the built server starts %s', async (_name, change, options, isRejected) => {
  // Beside the other parts of the build, which it finds from there.
  const folder = mkdtempSync(join(root, 'dist/copy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(root, 'dist/server'), folder, { recursive: true })
  // Another Node may have built it.
  const saving = [...startOptions(), join(root, 'scripts/save-code.mjs'), join(folder, 'compiled.js')]
  expect(spawnSync(process.execPath, saving, { stdio: 'ignore' }).status).toBe(0)
  change(folder)
  const program = `console.log('Rejected:', (await import(process.argv[1])).script.cachedDataRejected)`
  const compiled = pathToFileURL(join(folder, 'compiled.js')).href
  const { url, said } = await opened(
    spawn(process.execPath, [...options, '--input-type=module', '--eval', program, compiled], inOwnGroup(root)),
  )
  expect(/Rejected: (\w+)/.exec(said)?.[1]).toBe(isRejected)
  expect(await (await fetch(url)).text()).toContain('<div id="page">')
})

function damage(file: string): void {
  const code = readFileSync(file)
  const middle = code.length >> 1
  code.writeUInt8(code.readUInt8(middle) ^ 255, middle)
  writeFileSync(file, code)
}

/** To another program of the same length, which V8 would take for the same. */
function edit(file: string): void {
  const source = readFileSync(file, 'latin1')
  const edited = source.replace('Plaza is open: ', 'Plaza is open:\t')
  if (edited === source) throw new Error(`${file} does not say that it is open`)
  writeFileSync(file, edited, 'latin1')
}

/** The last stage of the Dockerfile. */
function copiedIntoTheImage(): string[] {
  const [last = ''] = readFileSync(join(root, 'Dockerfile'), 'utf8')
    .split(/^FROM /m)
    .slice(-1)
  const lines = [...last.matchAll(/^COPY (?:--from=\w+ )?(.+) \S+$/gm)].map(([, sources = '']) => sources)
  return lines
    .flatMap((sources) => sources.split(' ').map((path) => path.replace(/^\/app\//, '')))
    .filter((path) => path !== 'node_modules')
}

/** The packages of `npm ci --omit=dev`, without the compiler that the Dockerfile removes. */
function installedToRun(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>
  }
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) => {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1]
    return name && !dev && !devOptional ? [name] : []
  })
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-start-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function start(cwd: string, environment: NodeJS.ProcessEnv = {}) {
  const npm = spawn('npm', ['start'], inOwnGroup(cwd, environment))
  return { npm, ...(await opened(npm)) }
}

function inOwnGroup(
  cwd: string,
  environment: NodeJS.ProcessEnv = {},
): SpawnOptionsWithStdioTuple<StdioNull, StdioPipe, StdioPipe> {
  const own = { PORT: '0', OPS_PORT: '0', DATA_DIR: temporary(), DEMO: 'off', LOG_LEVEL: 'silent' }
  return { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...own, ...environment } }
}

/** Where a started server is open, and what it has said. */
function opened(server: ChildProcessByStdio<null, Readable, Readable>): Promise<{ url: string; said: string }> {
  onTestFinished(() => endGroup(server.pid))
  return new Promise((resolve, reject) => {
    let said = ''
    server.stderr.on('data', (chunk: Buffer) => {
      said += chunk
    })
    server.stdout.on('data', (chunk: Buffer) => {
      said += chunk
      const url = /Plaza is open:\s(\S+)/.exec(said)?.[1]
      if (url) resolve({ url, said })
    })
    server.once('close', () => reject(new Error(`The server did not start: ${said}`)))
  })
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader) process.kill(-leader, 'SIGKILL')
  } catch {}
}
