import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { verifyStore } from '#server/ports/database/copies/index'
import { openEmbedded } from '#server/ports/database/embedded'
import { JOURNAL_FILE } from '#server/ports/database/embedded/journal'
import { inOneFile } from '#test/support/programs'
import { linesOf } from './directories.ts'
import { idsIn } from './journalled.ts'

const program = await inOneFile('test/store/journaller.ts')

/** Runs the program, which kills itself at a step; how it ended. */
async function killedAt(directory: string, ledger: string, step: string): Promise<string | null> {
  const child = spawn(process.execPath, [program, directory, ledger, ...step.split(' ')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [, signal] = await once(child, 'exit')
  return signal
}

/** Of each commit, of which the fourth is the first that rows take part in, and makes the journal; of each batch; of each removal, of which the first is at the start. */
const steps = [
  'before prepare 4',
  'after prepare 4',
  'before drained 4',
  'after drained 4',
  'before append 1',
  'after append 1',
  'before append 5',
  'after append 5',
  'before drain 5',
  'after drain 5',
  'before drained 5',
  'after drained 5',
  'after append 25',
  'before remove 2',
  'after remove 2',
]

/** What the program before it left is put into its collections first. */
const openings = [
  'before read 1',
  'after read 1',
  'before restore 1',
  'after drain 2',
  'before drained 2',
  'before remove 1',
  'after remove 1',
]

test('S6: killed with -9 at each step of the journal, all that was acknowledged is there once', {
  timeout: 280_000,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-step-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const ledger = join(directory, 'ledger')
  await writeFile(ledger, '')
  for (const step of steps) {
    const data = join(directory, step)
    expect(await killedAt(data, ledger, step), step).toBe('SIGKILL')
    if (step.startsWith('after append') || step === 'before drain 5')
      for (const opening of openings) {
        expect(await readdir(data), opening).toContain(JOURNAL_FILE)
        const signal = await killedAt(data, ledger, opening)
        expect(signal, `${step}, ${opening}`).toBe('SIGKILL')
        if (opening === 'before remove 1') break
      }
    const acknowledged = (await readFile(ledger, 'utf8')).split('\n').filter((line) => line.startsWith(`${data} `))
    const store = await openEmbedded(data)
    const ids = await idsIn(store)
    await store.close()
    for (const line of acknowledged) expect(ids, step).toContain(line.slice(data.length + 1))
    expect(ids.length - acknowledged.length, step).toBeLessThanOrEqual(1)
    const [line = ''] = await linesOf(verifyStore(data)).then((lines) => (lines.length > 0 ? lines : ['none']))
    expect(line).toMatch(ids.length > 0 ? `plaza.things: ${ids.length} documents, 2 indexes` : /none|: 0 documents/)
    expect(await readdir(data)).toEqual(['data.mdb', 'lock.mdb'])
  }
})
