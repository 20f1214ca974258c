import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as pathOf } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lastMessageOf, messagesBetween, mongooseLogStore, rewriteRows, rowById } from '#server/log/store'
import type { Row } from '#server/log/types'
import { chainOf } from '#server/log/view'
import { connectEmbedded } from '#server/ports/database/embedded'
import { connectMongo } from '#server/ports/database/mongo'
import { type Database, isDuplicate } from '#server/ports/database/port'
import { edit, join, moderate, say } from '#test/log/chat'
import { Nodes } from '#test/log/nodes'

const uri = process.env.MONGODB_URI
const run = `${process.pid}-${Date.now()}`
let database: Database
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(pathOf(tmpdir(), 'plaza-log-'))
  database = uri ? await connectMongo(withName(uri)) : await connectEmbedded(directory)
  await database.buildIndexes()
})

afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})

function withName(server: string): string {
  const url = new URL(server)
  url.pathname = `/plaza-log-${run}`
  return url.href
}

function row(room: string, seq: number, changes: Partial<Row> = {}): Row {
  const plain = {
    _id: `${room} ${seq}`,
    room,
    seq,
    epoch: 'e',
    type: 'message',
    n: seq,
    total: seq,
    sender: 'ada',
    cid: `c${seq}`,
  }
  return {
    ...plain,
    body: { text: 'hello', nested: { list: [1, null] } },
    target: null,
    until: null,
    reason: null,
    at: seq,
    chain: '',
    chained: false,
    applied_seq: seq,
    v: 1,
    ...changes,
  }
}

describe('the rows', () => {
  test('are read as they were stored, in a range that includes both ends', async () => {
    const store = mongooseLogStore(true)
    const rows = [
      row('a', 1, {
        type: 'ban',
        n: null,
        total: 0,
        chained: true,
        chain: chainOf('', row('a', 1)),
        target: 'bo',
        until: 5,
        reason: 'r',
      }),
      ...[2, 3, 4].map((seq) => row('a', seq)),
    ]
    await store.insert(rows)
    expect(await store.read('a', 0, 200)).toEqual(rows)
    expect((await store.read('a', 1, 2)).map(({ seq }) => seq)).toEqual([2, 3])
    expect(await store.byCid('a', 'ada', 'c3')).toEqual(rows[2])
    expect(await store.byCid('a', 'bo', 'c3')).toBeNull()
    expect((await messagesBetween('a', 2, 3)).map(({ n }) => n)).toEqual([2, 3])
    expect((await lastMessageOf('a', 'ada'))?.seq).toBe(4)
    expect(await lastMessageOf('a', 'nobody')).toBeNull()
    expect((await rowById('a', 'a 2'))?.seq).toBe(2)
    expect(await rowById('b', 'a 2')).toBeNull()
  })

  test('are refused where a seq or a key is taken; those before the refused one stand', async () => {
    const store = mongooseLogStore(true)
    await store.insert([row('c', 1)])
    const taken = [row('c', 2), row('c', 3, { cid: 'c1' }), row('c', 4)]
    const error = await store.insert(taken).catch((reason) => reason)
    expect(isDuplicate(error)).toBe(true)
    expect(isDuplicate(await store.insert([row('c', 1, { _id: 'x', cid: 'x' })]).catch((reason) => reason))).toBe(true)
    expect(isDuplicate(new Error('another'))).toBe(false)
    expect((await store.read('c', 0, 200)).map(({ seq }) => seq)).toEqual([1, 2])
  })

  test('are rewritten by later events only', async () => {
    await mongooseLogStore(true).insert([row('d', 1, { body: { kept: 'first', gone: 'first' } }), row('d', 2)])
    const rewrite = (seq: number, fields: object) => ({ id: 'd 1', seq, fields: { ...fields } })
    await rewriteRows('d', [rewrite(4, { text: 'third', gone: undefined }), rewrite(3, { text: 'second' })])
    await rewriteRows('d', [rewrite(3, { text: 'second' })])
    await rewriteRows('another', [rewrite(5, { text: 'of another room' })])
    await rewriteRows('d', [])
    const [first, second] = await messagesBetween('d', 1, 2)
    expect(first).toMatchObject({ body: { kept: 'first', text: 'third' }, applied_seq: 4 })
    expect(Object.keys(first?.body ?? {})).not.toContain('gone')
    expect(second).toEqual(row('d', 2))
  })
})

test('heads only rise, and hold when they last rose', async () => {
  const store = mongooseLogStore(true)
  const head = (room: string, seq: number, materialised: number) => ({
    room,
    epoch: 'e',
    seq,
    total: seq,
    materialised,
  })
  await store.raiseHeads([head('e', 5, 3), head('f', 1, 0)], 100)
  await store.raiseHeads([head('e', 4, 4)], 200)
  // Of a node whose clock is behind.
  await store.raiseHeads([head('e', 6, 4)], 120)
  expect(await store.headOf('e')).toEqual(head('e', 6, 4))
  expect(await store.headOf('none')).toEqual({ room: 'none', epoch: '', seq: 0, total: 0, materialised: 0 })
  expect((await store.headsMovedSince(150)).map(({ room }) => room)).toEqual(['e'])
})

test('leases hold which nodes are alive and how far they have read', async () => {
  const store = mongooseLogStore(true)
  await store.writeLeases('one', [{ room: 'g', confirmed: 1 }], Date.now(), 7)
  await store.writeLeases('one', [{ room: 'g', confirmed: 2 }], Date.now(), 8)
  await store.writeLeases('dead', [{ room: 'g', confirmed: 1 }], Date.now() - 10_000, 9)
  expect(await store.leasesOf('g', Date.now() - 5_000)).toEqual([{ node: 'one', confirmed: 2, beat: 8 }])
})

test('one log over the store: members, messages, edits, a repeated key, a ban', async () => {
  const nodes = new Nodes()
  const log = nodes.alone({ store: mongooseLogStore(true), isDuplicate })
  const room = 'channel:whole'
  await log.act(room, join('ada'))
  await Promise.all(Array.from({ length: 300 }, (_, index) => log.act(room, say('ada', `k${index}`))))
  const { row: first } = await log.act(room, say('ada', 'k0'))
  await log.act(room, edit('ada', first?._id ?? '', 1))
  await log.act(room, moderate('ban', 'ada'))
  await expect(log.act(room, say('ada'))).rejects.toMatchObject({ code: 'BANNED' })
  expect(await log.act(room, say('ada', 'k1'))).toMatchObject({ duplicate: true })
  await nodes.stop()
  const rows = await mongooseLogStore(true).read(room, 0, 400)
  expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 303 }, (_, index) => index + 1))
})

test.runIf(uri)('two nodes on one database', async () => {
  const nodes = new Nodes()
  nodes.hasHints = false
  const both = ['one', 'other'].map((node) => nodes.start(node, { store: mongooseLogStore(false), isDuplicate }))
  const room = 'channel:both'
  await both[0]?.act(room, join('ada'))
  await Promise.all(Array.from({ length: 100 }, (_, index) => both[index % 2]?.act(room, say('ada', `k${index}`))))
  expect(
    await mongooseLogStore(false).advanced([
      { room, seq: 100 },
      { room, seq: 101 },
      { room: 'none', seq: 0 },
    ]),
  ).toEqual([room])
  expect(await both[0]?.act(room, moderate('ban', 'ada'))).toMatchObject({ pendingNodes: 0 })
  await expect(both[1]?.act(room, say('ada'))).rejects.toMatchObject({ code: 'BANNED' })
  await nodes.stop()
})
