import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { build } from '#test/support/programs'

const root = fileURLToPath(new URL('../..', import.meta.url))
beforeAll(build)

test('npm start opens on a page, and what npm is told to end is ended', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-start-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const startedAt = Date.now()
  const npm = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0', OPS_PORT: '0', DATA_DIR: directory, DEMO: 'off', LOG_LEVEL: 'silent' },
  })
  onTestFinished(() => endGroup(npm.pid))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    npm.stdout.on('data', (chunk: Buffer) => {
      said += chunk
      const open = /Plaza is open: (\S+)/.exec(said)?.[1]
      if (open) resolve(open)
    })
    npm.once('exit', () => reject(new Error(`The server did not start: ${said}`)))
  })
  const page = await fetch(url)
  expect(await page.text()).toContain('<div id="page">')
  expect((await fetch(`${url}/docs`)).status).toBe(200)
  expect(Date.now() - startedAt).toBeLessThan(30_000)

  npm.kill('SIGTERM')
  await once(npm, 'exit')
  await expect(fetch(url)).rejects.toThrow()
})

function endGroup(leader: number | undefined): void {
  try {
    if (leader) process.kill(-leader, 'SIGKILL')
  } catch {}
}
