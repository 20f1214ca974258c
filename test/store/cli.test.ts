import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copies } from '#server/platform/database'
import { filesIn } from '#server/platform/files'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, moderates, type Person, person } from '#test/support/people'
import { build, programs } from '#test/support/programs'

const long = 180_000
const uri = process.env.MONGODB_URI

let directory: string
let data: string
let file: string
/** The answers of the first server when the backup began. */
let before: { room: RoomRef; answers: Answers; sent: readonly string[] }

beforeAll(async () => {
  build()
  directory = await mkdtemp(join(tmpdir(), 'plaza-cli-'))
  data = join(directory, 'data')
  file = join(directory, 'plaza.backup')
  before = await backedUpUnderLoad()
}, long)

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

describe('a backup taken while messages are sent', { timeout: long }, () => {
  test('contains every message acknowledged before it began, and no log has a gap', async () => {
    const elsewhere = join(directory, 'restored')
    expect(await plaza(['restore', file, '--without-erasures'], { DATA_DIR: elsewhere })).toMatchObject({ code: 0 })
    const server = await boot({ nodes: 1, environment: { DATA_DIR: elsewhere } })
    const { room, answers, sent } = before
    const again = await answersOf(await person(server, 'ada'), room)
    await server.close()
    expect(again.texts.slice(0, answers.texts.length)).toEqual(answers.texts)
    expect(sent).toEqual(expect.arrayContaining(again.texts.slice(answers.texts.length)))
    expect(again.log).toEqual(answers.log)
  })

  test('verifies, and a damaged or truncated one is refused', async () => {
    const { code, told } = await plaza(['verify', file])
    expect(told).toMatch(/is whole: \d+ documents, counted and compared/)
    expect(code).toBe(0)
    const bytes = await readFile(file)
    const broken = join(directory, 'broken')
    await writeFile(broken, bytes.subarray(0, -100))
    await expect(copies.verifyBackup(broken)).rejects.toThrow(`${broken} is damaged`)
    await writeFile(broken, 'hello')
    await expect(copies.verifyBackup(broken)).rejects.toThrow(`${broken} is no backup of Plaza`)
    await expect(copies.restore(broken, join(directory, 'never'))).rejects.toThrow(copies.CopyError)
    await copyFile(file, broken)
    expect(await copies.restore(broken, join(directory, 'never'))).toEqual(await copies.verifyBackup(file))
  })

  test('overwrites no file, and is not made from a directory without a store', async () => {
    await expect(copies.backUp(data, file)).rejects.toThrow(`${file} is there already.`)
    await expect(copies.backUp(join(directory, 'none'), join(directory, 'x'))).rejects.toThrow('There is no store in')
  })

  test('is not restored over a store', async () => {
    await expect(copies.restore(file, data)).rejects.toThrow(`${data} is not empty: there is data.mdb.`)
  })

  test('restores every index, unique ones too', async () => {
    const elsewhere = join(directory, 'indexes')
    await copies.restore(file, elsewhere)
    const again = join(directory, 'again.backup')
    await copies.backUp(elsewhere, again, filesIn(elsewhere))
    expect(await copies.verifyBackup(again)).toEqual(await copies.verifyBackup(file))
    expect(await headingsOf(again)).toEqual(await headingsOf(file))
  })
})

describe.skipIf(!uri)('an installation that outgrows its store', { timeout: long }, () => {
  test('is exported to MongoDB, where the server gives the same answers, and only to an empty database', async () => {
    const target = databaseOf('export')
    const { code, told } = await plaza(['export'], { DATA_DIR: data, MONGODB_URI: target })
    expect(told).toMatch(/^Exported: \d+ documents/)
    expect(code).toBe(0)
    await expect(copies.exportTo(data, target)).rejects.toThrow(/is not empty: there is a collection/)

    const { room, answers } = before
    const there = await boot({ nodes: 1, environment: { MONGODB_URI: target, DATA_DIR: join(directory, 'keys') } })
    const moved = await answersOf(await person(there, 'ada'), room)
    await there.close()
    const here = await boot({ nodes: 1, environment: { DATA_DIR: data } })
    const stayed = await answersOf(await person(here, 'ada'), room)
    await here.close()
    expect(moved).toEqual(stayed)
    expect(moved.texts.slice(0, answers.texts.length)).toEqual(answers.texts)
  })

  test('resumes an interrupted export', async () => {
    const target = databaseOf('resumed')
    const client = new mongoose.mongo.MongoClient(target)
    const broken = client.db()
    await broken.collection<{ _id: string }>('plaza_export').insertOne({ _id: 'unfinished' })
    await broken.collection<{ _id: string }>('room_heads').insertOne({ _id: 'alpha' })
    await copies.exportTo(data, target)
    const names = (await broken.listCollections().toArray()).map(({ name }) => name)
    expect(names).not.toContain('plaza_export')
    const keys = (await broken.collection('room_events').indexes()).map(({ key, unique }) => ({ key, unique }))
    await client.close()
    expect(keys).toContainEqual({ key: { room: 1, seq: 1 }, unique: true })
  })
})

interface Answers {
  texts: string[]
  /** The moderation log, verified: the number of its entries, and the hash of the last. */
  log: unknown
}

async function answersOf(reader: Person, room: RoomRef): Promise<Answers> {
  const texts: string[] = []
  for (let after = 0, isComplete = false; !isComplete; ) {
    const page = await reader.does('rest', messages.sync, { room, after_seq: after })
    expect(page.events.map(({ seq }) => seq)).toEqual(page.events.map((_, at) => after + at + 1))
    texts.push(...page.events.flatMap(({ type, data }) => (type === 'message.created' ? [textOf(data.message)] : [])))
    after += page.events.length
    isComplete = page.complete
  }
  const log = await reader.does('rest', moderation.verify, { channelId: room.id ?? '' })
  expect(log).toMatchObject({ ok: true, entries: 2 })
  return { texts, log }
}

const textOf = (message: unknown) => String((message as { content?: unknown }).content)

/** Fills a store through a server, and backs it up by another process while messages are sent. */
async function backedUpUnderLoad(): Promise<typeof before> {
  const server: Booted = await boot({ nodes: 1, entry: 'in alpha', environment: { DATA_DIR: data } })
  const ada = await person(server, 'ada')
  const bob = await person(server, 'bob')
  const room = await channelOf(ada, bob)
  const sent: string[] = []
  const say = async (who: Person) => {
    const said = `message ${sent.length}`
    sent.push(said)
    await who.does('socket', messages.send, { room, text: said })
  }
  for (let at = 0; at < 200; at++) await say(at % 2 ? ada : bob)
  for (const reason of ['once', 'twice']) await moderates(ada, { room, action: 'warn', target: bob.account, reason })
  const answers = await answersOf(ada, room)

  let isDone = false
  const talking = (async () => {
    while (!isDone) await say(bob)
  })()
  const backup = await plaza(['backup', file])
  isDone = true
  await talking
  await server.close()
  expect(backup).toMatchObject({ code: 0, told: expect.stringMatching(/^Backed up to .+: \d+ documents, counted/) })
  expect(sent.length).toBeGreaterThan(answers.texts.length)
  return { room, answers, sent }
}

/** Runs the tool as an operator does. */
async function plaza(options: readonly string[], environment: Record<string, string> = {}) {
  const { MONGODB_URI: _, ...inherited } = process.env
  const env = { ...inherited, DATA_DIR: data, ...environment }
  const child = spawn(process.execPath, [programs.cli, ...options], { env })
  const [told, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, told, complaint }
}

/** What a backup says of its collections and their indexes. */
async function headingsOf(backup: string): Promise<string[]> {
  const lines = gunzipSync(await readFile(backup))
    .toString()
    .split('\n')
  return lines.filter((line) => line.startsWith('#{"collection"'))
}

function databaseOf(name: string): string {
  const url = new URL(uri ?? '')
  url.pathname = `/${process.env.PLAZA_TEST_DATABASES ?? 'plaza_test_'}${name}_${process.pid}`
  return url.href
}
