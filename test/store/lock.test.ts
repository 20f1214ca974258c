import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '#server/ports/database/embedded'

const holder = new URL('./holder.ts', import.meta.url).pathname

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-lock-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function hold(directory: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', holder, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await once(child.stdout, 'data')
  return child
}

test('a directory in use is waited for, then refused with its name and the pid of its owner', async () => {
  const directory = await freshDirectory()
  const child = await hold(directory)
  const asked = Date.now()
  const sentence = `The data directory ${directory} is in use by another process (pid ${child.pid}).`
  await expect(openEmbedded(directory)).rejects.toThrow(sentence)
  expect(Date.now() - asked).toBeGreaterThanOrEqual(4900)
  expect(Date.now() - asked).toBeLessThan(8000)
})

test('the lock of a killed process is taken over at once', async () => {
  const directory = await freshDirectory()
  const child = await hold(directory)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const asked = Date.now()
  const store = await openEmbedded(directory)
  expect(Date.now() - asked).toBeLessThan(2000)
  await store.close()
})

test('a directory that is let go within the wait is opened', async () => {
  const directory = await freshDirectory()
  const first = await openEmbedded(directory)
  const second = openEmbedded(directory)
  setTimeout(() => void first.close(), 500)
  await (await second).close()
})
