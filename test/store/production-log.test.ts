import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { heavy } from '#test/support/heavy'
import { build, programs, startOptions } from '#test/support/programs'
import { call, signIn, wallet } from '#test/support/wallet'

beforeAll(build)

const isJson = (line: string) => {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}

/** A server in production, and what it has written. */
function begun(directory: string, more: NodeJS.ProcessEnv = {}) {
  const { MONGODB_URI: _, ...inherited } = process.env
  const own = { DATA_DIR: directory, PORT: '0', OPS_PORT: '0', DEMO: 'off', VIDEO_PROVIDER: 'none', MODEL: 'scripted' }
  const secrets = {
    SESSION_KEYS: `k:${Buffer.alloc(32, 7).toString('base64')}`,
    STORAGE_RESERVE_MB: '0',
    PUBLIC_URL: 'http://localhost:3000',
  }
  const child = spawn(process.execPath, [...startOptions(), programs.main], {
    env: { ...inherited, ...own, ...secrets, NODE_ENV: 'production', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { output: '', errors: '' }
  child.stdout.on('data', (text) => {
    said.output += text
  })
  child.stderr.on('data', (text) => {
    said.errors += text
  })
  const lines = () => `${said.output}${said.errors}`.split('\n').filter((line) => line !== '')
  return { child, said, lines, others: () => lines().filter((line) => !isJson(line)) }
}

async function opened(server: ReturnType<typeof begun>): Promise<string> {
  await expect.poll(() => `${server.said.output} ${server.said.errors}`).toMatch(/Plaza is open: http/)
  return /Plaza is open: (http:\/\/[\w.]+:\d+)/.exec(server.said.output)?.[1] ?? ''
}

const directoryOf = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-log-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}
const isOver = async (child: ChildProcess) => {
  if (child.exitCode === null) await once(child, 'exit')
  return child.exitCode
}

describe('O41: in production all that is written is lines of JSON', heavy, () => {
  test('where a start is refused', async () => {
    const { child, said, others } = begun(await directoryOf(), { PORT: 'x' })
    expect(await isOver(child)).toBe(1)
    expect(said.errors).toContain('PORT')
    expect(others()).toEqual([])
  })

  test('where the process dies, down to its last words', async () => {
    const server = begun(await directoryOf(), { NODE_OPTIONS: '--max-old-space-size=32' })
    expect(await isOver(server.child)).not.toBe(0)
    expect(server.said.errors).toContain('heap')
    expect(server.others()).toEqual([])
  })

  test.skipIf(process.getuid?.() !== 0)('on a full disk, of which the store prints as it likes', async (context) => {
    const disk = await directoryOf()
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]).status === 0
    if (!mounted) return context.skip()
    onTestFinished(() => void spawnSync('umount', ['-l', disk]))
    const server = begun(join(disk, 'data'))
    const url = await opened(server)
    const { sessionToken: token } = await signIn(url, wallet('ada'))
    await writeFile(join(disk, 'rest'), Buffer.alloc(13_000_000)).catch(() => undefined)
    const statuses = []
    for (let at = 0; at < 20; at++)
      statuses.push((await call(url, 'POST /api/channels', { name: `Full ${at}` }, token)).status)
    expect(statuses).toContain(503)
    await expect.poll(() => server.said.errors).toContain('Write error')
    server.child.kill('SIGTERM')
    await isOver(server.child)
    expect(server.others()).toEqual([])
  })

  test('and who is told to end ends in order, and who is killed leaves nobody behind', async () => {
    const directory = await directoryOf()
    const first = begun(directory)
    const url = await opened(first)
    first.child.kill('SIGTERM')
    expect(await isOver(first.child)).toBe(0)
    await expect(fetch(url)).rejects.toThrow()
    const second = begun(directory)
    const again = await opened(second)
    second.child.kill('SIGKILL')
    await expect
      .poll(() =>
        fetch(again).then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone')
    const third = begun(directory)
    await opened(third)
    third.child.kill('SIGTERM')
    expect(await isOver(third.child)).toBe(0)
    expect([...first.others(), ...second.others(), ...third.others()]).toEqual([])
  })
})
