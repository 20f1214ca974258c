import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyStore } from '#server/ports/database/copies/index'
import { openEmbedded } from '#server/ports/database/embedded'
import { treeKey } from '#server/ports/database/embedded/keys'
import { build, programs } from '#test/support/programs'
import { catalogOf, linesOf, tampered } from './directories.ts'

/** With two indexes beside that of `_id`, these are more keys than are compared before a store is opened. */
const DOCUMENTS = 70_000
const reader = new URL('./damaged.ts', import.meta.url).pathname
const complaint = 'The store is damaged: the index n_1 of plaza.things has other keys than were put into it.'

let directory: string
beforeAll(async () => {
  build()
  directory = await mkdtemp(join(tmpdir(), 'plaza-large-'))
  const store = await openEmbedded(directory)
  const things = store.db().collection('things')
  await things.createIndexes([{ key: { n: 1 } }, { key: { group: 1 } }])
  await things.insertMany(Array.from({ length: DOCUMENTS }, (_, n) => ({ _id: `thing ${n}`, n, group: n % 7 })))
  await store.close()
  await misplaceEntry()
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Changes the key of one entry of an index, so that the number of keys stays the same. */
async function misplaceEntry(): Promise<void> {
  const { collections } = await catalogOf(directory)
  const tree = collections['plaza.things']?.indexes.find(({ name }) => name === 'n_1')?.tree ?? 0
  await tampered(directory, (environment) => {
    const [{ key, value } = { key: Buffer.of(), value: Buffer.of() }] = Array.from(
      environment.getRange({ start: treeKey(tree), end: treeKey(tree + 1), offset: DOCUMENTS / 2, limit: 1 }),
    )
    environment.removeSync(key)
    environment.putSync(Buffer.from(key.map((byte, at) => (at === key.length - 1 ? byte ^ 1 : byte))), value)
  })
}

async function ended(args: readonly string[], env: Record<string, string> = {}) {
  const { MONGODB_URI: _, REDIS_URL: __, ...inherited } = process.env
  const child = spawn(process.execPath, args, { env: { ...inherited, ...env } })
  const [told, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { told, complained, code }
}

describe('M27: keys of a large store are compared while it runs, and after a mismatch', () => {
  test('every operation fails', async () => {
    const { told, complained } = await ended(['--import', 'tsx', reader, directory])
    expect(complained).toBe('')
    const { before, thrown, answers } = JSON.parse(told)
    expect(before).toBe('thing 0')
    expect(thrown).toContain(complaint)
    for (const [asked, answer] of Object.entries(answers)) expect(answer, asked).toContain(complaint)
    expect(Object.keys(answers)).toHaveLength(13)
  })

  test('a server logs it and exits', async () => {
    const own = { PORT: '0', OPS_PORT: '0', DEMO: 'off', LOG_LEVEL: 'error', DATA_DIR: directory }
    const { told, complained, code } = await ended([programs.main], own)
    expect(told + complained).toContain(complaint)
    expect(code).toBe(1)
  })

  test('a tool fails with one sentence, and its process does not crash', async () => {
    await expect(linesOf(verifyStore(directory))).rejects.toThrow(/^The store is damaged: .*the index n_1\b/)
  })
})
