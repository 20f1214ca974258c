import { afterEach, describe, expect, test } from 'vitest'
import {
  GLOBAL,
  type Projection,
  ROW_VERSION,
  type RoomKey,
  type Row,
  UNREADABLE,
  verifyChain,
} from '#server/log/index'
import { join, makes, moderate, projection, say } from './chat.ts'
import { clockOf, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'
const spoilt = { sender: 'ada', makes: makes('spoilt'), judge: () => ({ accept: { type: 'spoilt', body: {} } }) }
const isSpoilt = (row: Row) => row.type === 'spoilt'
function fail(): never {
  throw new Error('Not a row of ours.')
}

/** Reasons why a row cannot be applied. */
const ways: [string, Partial<Projection>][] = [
  ['its body cannot be read', { changes: (row) => (isSpoilt(row) ? fail() : projection.changes(row)) }],
  [
    'its change of a fact fails',
    { changes: (row) => (isSpoilt(row) ? [{ key: 'slow', patch: fail }] : projection.changes(row)) },
  ],
  ['the row that it rewrites cannot be determined', { rewrites: (row) => (isSpoilt(row) ? fail() : null) }],
  ['its rewrite of an older row fails', { rewrites: (row) => (isSpoilt(row) ? fail : null) }],
]

describe.each(ways)('M46: a row that cannot be applied, because %s,', (_what, change) => {
  const reader = (quarantined: string[] = []) =>
    nodes.start('reader', {
      projection: { ...projection, ...change },
      observer: { ...nodes.silent, quarantined: ({ room, seq }) => void quarantined.push(`${room} ${seq}`) },
    })
  const writer = () => nodes.start('writer', { projection: { ...projection, changes: plainChanges } })
  const plainChanges = (row: Row) => (isSpoilt(row) ? [] : projection.changes(row))

  test.each([true, false])(
    'keeps its place, is reported once, and does not affect later rows; hints: %s',
    async (hasHints) => {
      nodes.hasHints = hasHints
      const quarantined: string[] = []
      const [one, other] = [writer(), reader(quarantined)]
      for (const key of [room, 'channel:two']) await other.hold(key)
      const seen: string[] = []
      other.onRows((key, rows) => void seen.push(...rows.map(({ seq, type }) => `${key} ${seq} ${type}`)))
      await one.act(room, join('ada'))
      await one.act(room, spoilt)
      await one.act(room, say('ada'))
      await one.act('channel:two', join('ada'))
      await expect.poll(() => seen.filter((row) => row.startsWith('channel:two'))).toHaveLength(1)
      await expect.poll(() => seen.length).toBe(4)
      const types = seen.filter((row) => row.startsWith(room)).map((row) => row.split(' ').slice(1).join(' '))
      expect(types.map((type) => type.replace(UNREADABLE, 'spoilt'))).toEqual(['1 join', '2 spoilt', '3 message'])
      expect(quarantined).toEqual([`${room} 2`])
      await other.act(room, say('ada'))
      expect((await other.read(room, 0, 200)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
      await pause(150)
      expect(quarantined).toEqual([`${room} 2`])
    },
  )

  test('does not prevent its room from being opened, nor the store from being read', async () => {
    const one = writer()
    await one.act(room, join('ada'))
    await one.act(room, spoilt)
    await one.act(room, say('ada'))
    const other = reader()
    expect((await other.read(room, 0, 200)).map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(await other.head(room)).toMatchObject({ seq: 3, total: 1 })
    await other.act(room, say('ada'))
  })

  test('in `global` does not stop any node from acting', async () => {
    nodes.hasHints = false
    const [one, other] = [writer(), reader()]
    await other.act(room, join('ada'))
    await one.act(GLOBAL, spoilt)
    await pause(150)
    await other.act(room, say('ada'))
    expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject({ pendingNodes: 0 })
    await expect(other.act(room, say('ada'))).rejects.toMatchObject({ code: 'SUSPENDED' })
  })
})

test('M46: a row that cannot be applied is reported once, though its room is unloaded and opened again', async () => {
  const writer = nodes.start('writer')
  await writer.act(room, join('ada'))
  await writer.act(room, spoilt)
  const quarantined: string[] = []
  const reader = nodes.start('reader', {
    clock: clockOf(1_000),
    pollMilliseconds: 10_000,
    projection: { ...projection, changes: (row) => (isSpoilt(row) ? fail() : projection.changes(row)) },
    observer: { ...nodes.silent, quarantined: ({ room, seq }) => void quarantined.push(`${room} ${seq}`) },
  })
  for (let opening = 0; opening < 2; opening++) {
    expect(await reader.head(room)).toMatchObject({ seq: 2 })
    await expect.poll(() => reader.headHere(room)).toBeNull()
  }
  expect(quarantined).toEqual([`${room} 2`])
})

test('M46: when a listener throws, the other listeners are called and the act is answered', async () => {
  const failed: RoomKey[] = []
  const heard: number[] = []
  const node = nodes.start('one', {
    observer: { ...nodes.silent, failed: (key) => void failed.push(key) },
  })
  node.onRows(fail)
  node.onRows((_, rows) => void heard.push(...rows.map(({ seq }) => seq)))
  node.onRows(fail)
  await node.act(room, join('ada'))
  expect(await node.act(room, moderate('ban', 'ada'))).toMatchObject({ row: { seq: 2 }, pendingNodes: 0 })
  expect(heard).toEqual([1, 2])
  expect(failed).toEqual([room, room, room, room])
})

test('M46: a room that cannot be read stops neither the comparison nor the records of another', async () => {
  nodes.hasHints = false
  const dead = nodes.start('dead', {
    reach: async (name, work) => (name === 'raiseHeads' ? new Promise(() => {}) : work()),
    records: { load: async () => new Map(), save: () => new Promise(() => {}) },
  })
  const spoilt = 'channel:aaa'
  const store = nodes.storeOf(false)
  const saves: string[] = []
  const other = nodes.start('other', {
    pollMilliseconds: 20,
    store: {
      ...store,
      read: (key, after, limit) => (key === spoilt && after > 0 ? Promise.reject(fail) : store.read(key, after, limit)),
    },
    records: {
      load: async (key, keys) => nodes.kept.load(key, keys),
      save: async (key, changes) => {
        if (key === spoilt) fail()
        saves.push(key)
        nodes.kept.save(key, changes)
      },
    },
  })
  for (const key of [spoilt, room]) {
    void dead.act(key, moderate('ban', 'ada')).catch(() => {})
    await pause(20)
    await other.hold(key)
  }
  await expect.poll(() => saves).toContain(room)
})

describe('M46: versions of rows', () => {
  test('each row holds its own', async () => {
    const node = nodes.alone()
    await node.act(room, join('ada'))
    expect(nodes.memory.log(room).map(({ v }) => v)).toEqual([ROW_VERSION])
  })

  test('a node of the previous version and one of this version write one log with one order and one chain', async () => {
    const [older, newer] = [nodes.start('older'), nodes.start('newer')]
    // Rows and hints of the previous version hold no version.
    nodes.memory.onCommit = (row) => {
      if (row._id.startsWith('older')) Object.assign(row, { v: 1 })
    }
    await older.act(room, join('ada'))
    await newer.act(room, {
      sender: 'ada',
      makes: makes('of.the.next'),
      judge: () => ({ accept: { type: 'of.the.next', body: { new: 1 } } }),
    })
    await Promise.all([older, newer, older, newer].map((node) => node.act(room, say('ada'))))
    expect(nodes.memory.log(room).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
    expect((await older.read(room, 0, 200)).map(({ type }) => type)).toContain('of.the.next')
    expect(verifyChain(nodes.memory.log(room), '')).toBeNull()
  })
})
