import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, readFile, rename, rm, unlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '#server/ports/database/embedded'

const holder = new URL('./holder.ts', import.meta.url).pathname
const writer = new URL('./writer.ts', import.meta.url).pathname

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-lock-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function hold(directory: string, options: readonly string[] = []) {
  const child = spawn(process.execPath, [...options, '--import', 'tsx', holder, directory], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await once(child.stdout, 'data')
  return child
}

test('a start waits for a directory in use, then fails with its name and the pid of its owner', async () => {
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
  expect(Date.now() - asked).toBeLessThan(4000)
  await store.close()
})

test('a directory that is released during the wait is opened', async () => {
  const directory = await freshDirectory()
  const first = await openEmbedded(directory)
  const second = openEmbedded(directory)
  setTimeout(() => void first.close(), 500)
  await (await second).close()
})

const elsewhere = { pid: 1, started: '1', host: 'elsewhere', id: 'gone' }

test.concurrent.each([
  ['empty', ''],
  ['torn', '{"pid":12,"star'],
  ['no owner', 'null'],
  ['half an owner', '{"pid":1}'],
  ['text', 'locked'],
  ['of a host that is silent', JSON.stringify(elsewhere)],
  ['of a host that is silent and ahead of time', JSON.stringify(elsewhere), 3600],
])('M26: a lock that is %s is taken over after three seconds', async (_, content, ahead = 0) => {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-lock-'))
  await writeFile(join(directory, 'lock'), content)
  if (ahead > 0) await utimes(join(directory, 'lock'), Date.now() / 1000 + ahead, Date.now() / 1000 + ahead)
  const asked = Date.now()
  const store = await openEmbedded(directory)
  const waited = Date.now() - asked
  await store.close()
  expect(waited).toBeGreaterThan(2500)
  // A busy machine starts late what is due.
  expect(waited).toBeLessThan(30_000)
  expect(await readdir(directory)).toEqual(['data.mdb', 'lock.mdb'])
  await rm(directory, { recursive: true })
})

test('M26: a lock with a heartbeat from another host is not taken over', async () => {
  const directory = await freshDirectory()
  await writeFile(join(directory, 'lock'), JSON.stringify(elsewhere))
  const beat = setInterval(() => void utimes(join(directory, 'lock'), new Date(), new Date()), 1000)
  await expect(openEmbedded(directory)).rejects.toThrow('is in use by another process (pid 1 on elsewhere).')
  clearInterval(beat)
})

test('M26: a slow holder is not taken for dead, under any host name', async () => {
  const directory = await freshDirectory()
  const rename =
    "import os from 'node:os';import {syncBuiltinESMExports} from 'node:module';os.hostname=()=>'elsewhere';syncBuiltinESMExports()"
  const child = await hold(directory, ['--import', `data:text/javascript,${encodeURIComponent(rename)}`])
  expect(await readFile(join(directory, 'lock'), 'utf8')).toContain('"host":"elsewhere"')
  child.kill('SIGSTOP')
  await sleep(4000)
  await expect(openEmbedded(directory)).rejects.toThrow(`(pid ${child.pid} on elsewhere)`)
  child.kill('SIGCONT')
  await sleep(2000)
  expect(child.exitCode).toBeNull()
})

/** Longer than a lock, so that it is written over with one write and never seen half. */
const another = JSON.stringify({ ...elsewhere, id: 'another' }).padEnd(1_000)
const taken = 'was taken by another process (pid 1 on elsewhere)'
test.each<[string, string, (lock: string) => Promise<unknown>]>([
  ['is deleted', 'has no lock any more', (lock) => unlink(lock)],
  ['is written over', taken, (lock) => writeFile(lock, another, { flag: 'r+' })],
  ['is replaced', taken, (lock) => writeFile(`${lock}.x`, another).then(() => rename(`${lock}.x`, lock))],
  [
    'is copied',
    'has a copy of the lock in its place',
    (lock) => copyFile(lock, `${lock}.x`).then(() => rename(`${lock}.x`, lock)),
  ],
  ['is torn', 'has a lock that names nobody', (lock) => writeFile(lock, '')],
])('M26: a process whose lock %s acknowledges nothing more, and ends', async (title, how, take) => {
  const directory = await freshDirectory()
  const ledger = join(await freshDirectory(), 'ledger')
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', writer, directory, ledger, 'x', '1', title === 'is replaced' ? 'j' : ''],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let complaint = ''
  child.stderr.on('data', (text) => {
    complaint += text
  })
  await expect.poll(() => readFile(ledger, 'utf8').catch(() => '')).not.toBe('')
  await take(join(directory, 'lock'))
  await sleep(100)
  const acknowledged = await readFile(ledger, 'utf8')
  if (child.exitCode === null) await once(child, 'exit')
  expect(child.exitCode).not.toBe(0)
  expect(complaint).toContain(`The data directory ${directory} ${how}`)
  expect(await readFile(ledger, 'utf8')).toBe(acknowledged)
})

test('M26: of many processes that find a dead lock at once, one takes it', async () => {
  const directory = await freshDirectory()
  const dead = await hold(directory)
  dead.kill('SIGKILL')
  await once(dead, 'exit')
  const all = Array.from({ length: 5 }, () => hold(directory).then(() => true))
  expect(await Promise.race(all)).toBe(true)
  const open = await Promise.race([
    Promise.all(all.map((each) => Promise.race([each, sleep(3000, false)]))),
    sleep(9000, []),
  ])
  expect(open.filter((each) => each)).toHaveLength(1)
})
