import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { copies } from '#server/platform/database'
import { inOneFile } from '#test/support/programs'
import { checkCopy, checkStore, readLedger } from './ledger.ts'

const leastWrites = 1_000
const KILLS = 20
const writer = await inOneFile('test/store/writer.ts')
const backups = new URL('./backups.ts', import.meta.url).pathname

test.each([
  ['', []],
  [' and most rows journalled', ['16', 'j']],
])(
  'P1: killed with -9 twenty times under load%s, no acknowledged write is lost and every index is exact',
  async (_, how) => {
    const directory = await mkdtemp(join(tmpdir(), 'plaza-kill-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const ledger = join(directory, 'ledger.txt')
    await writeFile(ledger, '')
    for (let kill = 0; kill < KILLS; kill++) {
      const child = spawn(process.execPath, [writer, directory, ledger, `${kill}`, ...how], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(child.stdout, 'data')
      const { writes } = await readLedger(ledger)
      await sleep(100 + kill * 15)
      // A busy machine writes little in that time.
      await expect.poll(async () => (await readLedger(ledger)).writes - writes).toBeGreaterThan(leastWrites / KILLS)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const acknowledged = await readLedger(ledger)
    expect(acknowledged.writes).toBeGreaterThan(leastWrites)
    await checkStore(directory, acknowledged)
  },
)

describe('M30: backups during writes, each by a tool that is slow to open a store it should not open', () => {
  let directory: string
  let slow: string | null
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plaza-beside-'))
    slow = slowToMap(directory)
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  test('lose no acknowledged write, end no process, and contain what was acknowledged before they began', async () => {
    const data = join(directory, 'data')
    const ledger = join(directory, 'ledger.txt')
    await writeFile(ledger, '')
    const working = spawn(process.execPath, [writer, data, ledger, 'beside', '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(working.stdout, 'data')
    const before = await readLedger(ledger)
    const tool = spawn(process.execPath, ['--import', 'tsx', backups, data, directory, slow ? '40' : '200'], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...(slow ? { LD_PRELOAD: slow } : {}) },
    })
    const [code] = await once(tool, 'exit')
    expect(working.exitCode ?? working.signalCode).toBeNull()
    working.kill('SIGKILL')
    await once(working, 'exit')
    expect(code).toBe(0)
    const acknowledged = await readLedger(ledger)
    expect(acknowledged.writes).toBeGreaterThan(before.writes)
    await checkStore(data, acknowledged)
    const restored = join(directory, 'restored')
    await copies.restore(join(directory, 'first'), restored)
    await checkCopy(restored, before)
  })
})

/** A preload that pauses a process after it has read the number of the last commit and before it has registered it. */
function slowToMap(directory: string): string | null {
  const source = `
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <sys/mman.h>
    #include <unistd.h>
    void *mmap64(void *at, size_t length, int protection, int flags, int file, off_t offset) {
      void *(*map)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap64");
      void *mapped = map(at, length, protection, flags, file, offset);
      if (file >= 0 && length >= 65536) usleep(1000);
      return mapped;
    }
    void *mmap(void *at, size_t length, int protection, int flags, int file, off_t offset) {
      return mmap64(at, length, protection, flags, file, offset);
    }`
  const library = join(directory, 'slow.so')
  const compiler = ['-x', 'c', '-', '-shared', '-fPIC', '-ldl', '-o', library]
  return spawnSync('gcc', compiler, { input: source }).status === 0 ? library : null
}
