import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backUp, verifyStore } from '#server/ports/database/copies/index'
import { openEmbedded } from '#server/ports/database/embedded'
import { build, inOneFile, programs } from '#test/support/programs'
import { linesOf } from './directories.ts'
import { makeOlder } from './older.ts'

const PAGE = 4096
const reader = await inOneFile('test/store/reader.ts')
const holder = new URL('./holder.ts', import.meta.url).pathname

let directory: string
let whole: string
beforeAll(async () => {
  build()
  directory = await mkdtemp(join(tmpdir(), 'plaza-damage-'))
  whole = join(directory, 'whole')
  await fill(whole, 2000)
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function fill(to: string, rows: number): Promise<void> {
  const store = await openEmbedded(to)
  const things = store.db().collection('things')
  await things.createIndex({ room: 1, seq: 1 }, { unique: true })
  await things.createIndex({ tags: 1 })
  const all = Array.from({ length: rows }, (_, at) => ({
    _id: `thing ${at}`,
    room: at % 5,
    seq: Math.floor(at / 5),
    tags: [`t${at % 7}`, 'all'],
    at: at % 3 ? new Date(at) : null,
    text: `Hello ${at} ${'x'.repeat(at % 300)}`,
  }))
  await things.insertMany(all)
  await store.close()
}

interface Told {
  directory: string
  answers?: string
  error?: string
}

/** The answers a process reads from each store; a store that ends the process counts as damaged. */
async function readAll(directories: readonly string[]): Promise<Told[]> {
  const told: Told[] = []
  while (told.length < directories.length) {
    const rest = directories.slice(told.length)
    const child = spawn(process.execPath, [reader, ...rest], { stdio: ['ignore', 'pipe', 'ignore'] })
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
    const [lines] = await Promise.all([text(child.stdout), once(child, 'exit')])
    clearTimeout(late)
    told.push(
      ...lines
        .split('\n')
        .filter((line) => line)
        .map((line) => JSON.parse(line)),
    )
    const next = directories[told.length]
    if (next !== undefined) told.push({ directory: next, error: 'The process ended.' })
  }
  return told
}

const kinds: [string, (page: Buffer, other: Buffer, at: number) => void][] = [
  ['zeros', (page) => void page.fill(0)],
  ['noise', (page, _, at) => void page.set(Array.from(page, (_byte, byte) => (byte * 31 + at * 17) & 0xff))],
  ['another page', (page, other) => void other.copy(page)],
  ['one byte', (page, _, at) => void page.set([(page[at * 13] ?? 0) ^ 4], (at * 13) % PAGE)],
  ['zeros from its middle on', (page) => void page.fill(0, PAGE / 2)],
]

describe('M27: a damaged store reports the damage, and never answers with incomplete data', {
  timeout: 280_000,
}, () => {
  test.each(kinds)('a page of %s', async (kind, damage) => {
    const bytes = await readFile(join(whole, 'data.mdb'))
    const pages = bytes.length / PAGE
    const copies: string[] = []
    for (let page = 2; page < pages; page += Math.ceil(pages / 25)) {
      const damaged = Buffer.from(bytes)
      const pageAt = (at: number) => damaged.subarray(at * PAGE, (at + 1) * PAGE)
      damage(pageAt(page), pageAt(page > pages / 2 ? page - 7 : page + 7), page)
      const copy = join(directory, `${kind} ${page}`)
      await cp(whole, copy, { recursive: true })
      await writeFile(join(copy, 'data.mdb'), damaged)
      copies.push(copy)
    }
    const [{ answers: wanted } = { answers: '' }] = await readAll([whole])
    const told = await readAll(copies)
    expect(wanted).toHaveLength(64)
    expect(told.filter(({ answers }) => answers !== undefined && answers !== wanted)).toEqual([])
    expect(told.filter(({ error }) => error).length).toBeGreaterThan(3)
    await Promise.all(copies.map((copy) => rm(copy, { recursive: true })))
  })

  test('any byte of a document', async () => {
    const bytes = await readFile(join(whole, 'data.mdb'))
    // A page that was written anew leaves its former bytes in the file: whichever is read is damaged.
    for (let at = bytes.indexOf('Hello 777 '); at >= 0; at = bytes.indexOf('Hello 777 ', at + 1))
      bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 1
    const copy = join(directory, 'byte')
    await cp(whole, copy, { recursive: true })
    await writeFile(join(copy, 'data.mdb'), bytes)
    const store = await openEmbedded(copy)
    const things = store.db().collection('things')
    const said = /^The store is damaged: the row [0-9a-f]+ is not what was written/
    await expect(things.find({}).toArray()).rejects.toThrow(said)
    await expect(things.findOne({ _id: 'thing 777' })).rejects.toThrow(said)
    await expect(things.updateMany({}, { $set: { x: 1 } })).rejects.toThrow('The write was not stored')
    expect(await things.findOne({ _id: 'thing 776' })).toMatchObject({ seq: 155 })
    await expect(backUp(copy, join(directory, 'never'))).rejects.toThrow(said)
    await expect(linesOf(verifyStore(copy))).rejects.toThrow('things: The store is damaged: the row')
    await store.close()
    expect(await readdir(directory)).not.toContain('never')
    const { MONGODB_URI: _, ...env } = process.env
    const tool = spawnSync(process.execPath, [programs.cli, 'verify'], {
      env: { ...env, DATA_DIR: copy },
      encoding: 'utf8',
    })
    expect(tool).toMatchObject({ status: 1, stderr: expect.stringMatching(/^The store is damaged: [^\n]+\n$/) })
  })

  test('an undamaged store verifies, while a process holds it and without one', async () => {
    const line = 'plaza.things: 2000 documents, 3 indexes'
    expect(await linesOf(verifyStore(whole))).toEqual([line])
    const store = await openEmbedded(whole)
    expect(await linesOf(verifyStore(whole))).toEqual([line])
    await store.close()
  })
})

describe('M27: a store of the previous version', { timeout: 120_000 }, () => {
  test('is migrated, also after a process was killed during the migration', async () => {
    const older = join(directory, 'older')
    await fill(older, 20_000)
    const [{ answers: wanted } = { answers: '' }] = await readAll([older])
    await makeOlder(older)
    for (let kill = 0; kill < 8; kill++) {
      const child = spawn(process.execPath, ['--import', 'tsx', holder, older], { stdio: 'ignore' })
      await expect.poll(() => readdir(older)).toContain('lock')
      await sleep(kill * 25)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    expect(await readAll([older])).toEqual([{ directory: older, answers: wanted }])
    expect(await linesOf(verifyStore(older))).toEqual(['plaza.things: 20000 documents, 3 indexes'])
    const store = await openEmbedded(older)
    expect(await store.db().collection('things').estimatedDocumentCount()).toBe(20_000)
    await store.close()
  })
})
