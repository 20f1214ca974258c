import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { keys } from '#server/domains/rooms/room-state/facts'
import { Bans } from '#server/domains/rooms/room-state/model'
import { records } from '#server/domains/rooms/room-state/records'
import { mongooseLogStore } from '#server/log/store'
import type { Fact, Row } from '#server/log/types'
import { connectEmbedded } from '#server/ports/database/embedded'
import { connectMongo } from '#server/ports/database/mongo'
import { type Database, isDuplicate } from '#server/ports/database/port'

const uri = process.env.MONGODB_URI
const room = 'channel:018f0000-0000-7000-8000-000000000001'
let database: Database
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-records-'))
  database = uri ? await connectMongo(withName(uri)) : await connectEmbedded(directory)
  await database.buildIndexes()
})
afterAll(async () => {
  if (uri) await mongoose.connection.db?.dropDatabase()
  await database.close()
  await rm(directory, { recursive: true })
})

function withName(server: string): string {
  const url = new URL(server)
  url.pathname = `/${process.env.PLAZA_TEST_DATABASES ?? 'plaza_test_'}records_${process.pid}`
  return url.href
}

const ban = (target: string, seq: number) => ({
  key: keys.ban(target),
  value: {
    ban_id: `ban ${seq}`,
    user_address: target,
    banned_by: 'mod',
    reason: null,
    banned_at: '2026-11-22T00:00:00.000Z',
    banned_until: seq === 1 ? '2026-11-22T01:00:00.000Z' : null,
  } as Fact,
  row: { seq, room, sender: 'mod', target, at: 1 } as Row,
})

/** The form in which the driver reports failures of a bulk write. */
const bulk = (...codes: number[]) => {
  const failures = codes.map((code, index) => ({ code, index, errmsg: 'no' }))
  const result = { getWriteConcernError: () => undefined } as never
  const error = new mongoose.mongo.MongoBulkWriteError({ message: 'no', code: codes[0] ?? 0 }, result)
  return Object.assign(error, { writeErrors: failures })
}

describe('M44: records that two nodes write for the first time at once', () => {
  test('the newer one is kept, in either order', async () => {
    const people = Array.from({ length: 60 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
    for (const person of people) await Promise.all([1, 2, 3].map((seq) => records.save(room, [ban(person, seq)])))
    const loaded = await records.load(room, people.map(keys.ban))
    expect([...loaded.values()].filter(({ seq }) => seq !== 3)).toEqual([])
    expect(await Bans.countDocuments({ room, ban_id: 'ban 3' })).toBe(people.length)
  })

  test('the newer one is kept if the older is inserted between its lookup and its insert', async () => {
    vi.spyOn(Bans, 'bulkWrite').mockImplementationOnce(async () => {
      await records.save(room, [ban('0xbetween', 1)])
      throw bulk(11_000)
    })
    await records.save(room, [ban('0xbetween', 2)])
    expect((await records.load(room, [keys.ban('0xbetween')])).get(keys.ban('0xbetween'))).toMatchObject({ seq: 2 })
  })

  test('many in one bulk write, some of which exist, are all as of their newest event', async () => {
    const people = Array.from({ length: 40 }, (_, at) => `0x${(1_000 + at).toString(16).padStart(40, '0')}`)
    await records.save(
      room,
      people.filter((_, at) => at % 2 === 0).map((person) => ban(person, 5)),
    )
    await Promise.all(
      [4, 6, 3].map((seq) =>
        records.save(
          room,
          people.map((person) => ban(person, seq)),
        ),
      ),
    )
    const loaded = await records.load(room, people.map(keys.ban))
    expect([...loaded.values()].map(({ seq }) => seq)).toEqual(people.map(() => 6))
  })

  test('a head that two nodes raise for the first time at once is the higher one', async () => {
    const store = mongooseLogStore(false)
    const names = Array.from({ length: 50 }, (_, at) => `channel:head ${at}`)
    const head = (room: string, seq: number) => ({ room, epoch: 'e', seq, total: seq, materialised: seq })
    for (const name of names) await Promise.all([1, 2, 3].map((seq) => store.raiseHeads([head(name, seq)], seq)))
    const heads = await Promise.all(names.map((name) => store.headOf(name)))
    expect(heads.map(({ seq }) => seq)).toEqual(names.map(() => 3))
  })
})

describe('M44: an unordered bulk is a duplicate only where each of its failures is one', () => {
  test.each([
    [[11_000], true],
    [[11_000, 11_000], true],
    [[11_000, 50], false],
    [[50, 11_000], false],
    [[50], false],
  ])('of failures %j: %s', (codes, is) => expect(isDuplicate(bulk(...codes))).toBe(is))

  test('a bulk write that no majority confirmed is not a duplicate', () => {
    const result = { getWriteConcernError: () => ({ code: 64 }) } as never
    const error = new mongoose.mongo.MongoBulkWriteError({ message: 'no', code: 11_000 }, result)
    expect(isDuplicate(error)).toBe(false)
  })

  test('a record that the model refuses fails the save, though the others are written', async () => {
    const spoilt = {
      ...ban('0xspoilt', 1),
      value: { ...(ban('0xspoilt', 1).value as object), reason: { not: 'text' } } as Fact,
    }
    await expect(records.save(room, [spoilt, ban('0xfine', 1)])).rejects.toThrow()
  })
})
