import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { build } from '#test/support/programs'

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
  const own = { PORT: '0', OPS_PORT: '0', DATA_DIR: temporary(), DEMO: 'off', LOG_LEVEL: 'silent' }
  const env = { ...process.env, ...own, ...environment }
  const npm = spawn('npm', ['start'], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env })
  onTestFinished(() => endGroup(npm.pid))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    npm.stderr.on('data', (chunk: Buffer) => {
      said += chunk
    })
    npm.stdout.on('data', (chunk: Buffer) => {
      said += chunk
      const open = /Plaza is open: (\S+)/.exec(said)?.[1]
      if (open) resolve(open)
    })
    npm.once('close', () => reject(new Error(`The server did not start: ${said}`)))
  })
  return { npm, url }
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader) process.kill(-leader, 'SIGKILL')
  } catch {}
}
