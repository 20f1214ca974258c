import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { build, programs } from '#test/support/programs'

beforeAll(build)

test.each(['PORT', 'OPS_PORT'])(
  'O44: a start on a %s that is taken says so in one sentence, and nothing else',
  async (name) => {
    const directory = await mkdtemp(join(tmpdir(), 'plaza-taken-'))
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(async () => {
      other.close()
      await rm(directory, { recursive: true, force: true })
    })
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const own = {
      DATA_DIR: directory,
      PORT: '0',
      OPS_PORT: '0',
      DEMO: 'off',
      VIDEO_PROVIDER: 'none',
      HOST: '127.0.0.1',
    }
    const { MONGODB_URI: _, ...inherited } = process.env
    const child = spawn(process.execPath, [programs.main], {
      env: { ...inherited, ...own, NODE_ENV: 'development', [name]: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    expect(complaint).toMatch(
      new RegExp(`^${name.replace('PORT', '')}HOST or ${name} cannot be used: [^\n]*EADDRINUSE[^\n]*\n$`),
    )
    expect(said).not.toMatch(/"level":(40|50)/)
    expect(child.exitCode).toBe(1)
  },
)
