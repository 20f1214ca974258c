import { createHash } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { chainOf, type Judgement, type Row, type View, verifyChain } from '#server/log/index'
import { AppError } from '#shared/errors'
import { edit, join, makes, moderate, projection, say, slow } from './chat.ts'
import { type Changes, clockOf, counting, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'
const log = () => nodes.memory.log(room)
const fast = { clock: clockOf(20), pollMilliseconds: 1_000 }

function delivered(node: ReturnType<Nodes['start']>): number[] {
  const seqs: number[] = []
  node.onRows((_, rows) => void seqs.push(...rows.map(({ seq }) => seq)))
  return seqs
}

test('numbers rows without a gap, counts the messages, and stores waiting acts in one insert', async () => {
  const inserts = counting('insert')
  const node = nodes.alone(inserts)
  await node.act(room, join('ada'))
  await Promise.all(Array.from({ length: 30 }, () => node.act(room, say('ada'))))
  expect(inserts.count).toBe(2)
  expect(log().map(({ seq }) => seq)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1))
  expect(log().map(({ n }) => n)).toEqual([null, ...Array.from({ length: 30 }, (_, index) => index + 1)])
  expect(await node.head(room)).toEqual({ epoch: log()[0]?.epoch, seq: 31, total: 30 })
})

test('chains the entries of moderation, so that a changed one shows', async () => {
  const node = nodes.alone()
  for (const type of ['ban', 'unban', 'ban']) {
    await node.act(room, slow(0))
    await node.act(room, moderate(type, 'ada'))
  }
  expect(verifyChain(log(), '')).toBeNull()
  expect(
    verifyChain(
      log().filter(({ chained }) => chained),
      '',
    ),
  ).toBeNull()
  const forged = log().map((row): Row => (row.seq === 4 ? { ...row, reason: 'another' } : row))
  expect(verifyChain(forged, '')?.seq).toBe(4)
})

const twoEntries = async () => {
  const node = nodes.alone()
  for (const type of ['ban', 'unban']) await node.act(room, moderate(type, 'ada'))
  return log()
}
const rehash = (rows: readonly Row[], change: Partial<Row>) => {
  const [first, ...rest] = rows.map((row) => ({ ...row, ...change }))
  if (!first) throw new Error('Nothing was appended.')
  const chain = chainOf('', first)
  return [{ ...first, chain }, ...rest.map((row) => ({ ...row, chain: chainOf(chain, row) }))]
}

test.each<[string, Partial<Row>]>([
  ['another body', { body: { action: 'unban' } }],
  ['a field more', { body: { more: null } }],
  ['another version', { v: 1 }],
  ['another version and another body', { v: 1, body: { action: 'unban' } }],
])('M49: an entry with %s does not follow', async (_what, change) => {
  const rows = await twoEntries()
  expect(verifyChain(rows, '')).toBeNull()
  expect(verifyChain([{ ...(rows[0] as Row), ...change }, ...rows.slice(1)], '')?.seq).toBe(1)
})

test('M49: entries of the older version, whose hash does not cover the body, still verify', async () => {
  const rows = rehash(await twoEntries(), { v: 1 })
  expect(verifyChain(rows, '')).toBeNull()
  expect(rows[0]?.chain).toBe(
    createHash('sha256')
      .update(JSON.stringify(['', rows[0]?._id, room, 1, rows[0]?.at, 'ban', 'mod', 'ada', null, 'why not']))
      .digest('base64url'),
  )
})

test('M49: a body that the store returns with other representations of its values has the same hash', async () => {
  const [row] = await twoEntries()
  const given = { ...(row as Row), body: { gone: undefined, cut: 'a\ud800' } as unknown as Row['body'] }
  const stored = { ...(row as Row), body: { gone: null, cut: 'a\ufffd' } }
  expect(chainOf('', given)).toBe(chainOf('', stored))
})

test('answers a repeated key with its first row: in one turn, later, on another node, with another text', async () => {
  const [one, other] = [nodes.start('one'), nodes.start('other')]
  await one.act(room, join('ada'))
  const answers = await Promise.all([
    one.act(room, say('ada', 'k')),
    one.act(room, say('ada', 'k')),
    other.act(room, say('ada', 'k')),
  ])
  answers.push(await one.act(room, say('ada', 'k', 'another text')), await other.act(room, say('ada', 'k')))
  expect(new Set(answers.map(({ row }) => row?._id)).size).toBe(1)
  expect(answers.filter((answer) => answer.row && !answer.duplicate)).toHaveLength(1)
  expect(log()).toHaveLength(2)
})

test('finds an old key when the store refuses it as a duplicate', async () => {
  const [one, other] = [nodes.start('one'), nodes.start('other')]
  await one.act(room, join('ada'))
  const first = await one.act(room, say('ada', 'k'))
  await Promise.all(Array.from({ length: 500 }, () => one.act(room, say('ada'))))
  const again = await other.act(room, say('ada', 'k'))
  expect(again).toMatchObject({ row: { _id: first.row?._id }, duplicate: true })
})

test('refuses no act because of a row that turns out to be a repeat', async () => {
  const [one, other] = [nodes.start('one'), nodes.start('other')]
  await one.act(room, join('ada'))
  await one.act(room, say('ada', 'old'))
  await one.act(room, join('bo'))
  await Promise.all(Array.from({ length: 500 }, () => one.act(room, say('bo'))))
  await one.act(room, slow(200))
  await pause(250)
  // The other node has not seen the old key, and takes the first of the two for new until the store knows better.
  const [again, fresh] = await Promise.all([other.act(room, say('ada', 'old')), other.act(room, say('ada', 'fresh'))])
  expect([again, fresh]).toMatchObject([{ duplicate: true }, { duplicate: false }])
})

test('lets one of fifty pass in slow mode, from two nodes', async () => {
  const both = [nodes.start('one'), nodes.start('other')]
  await both[0]?.act(room, join('ada'))
  await both[0]?.act(room, slow(60_000))
  const sends = Array.from({ length: 50 }, (_, index) => both[index % 2]?.act(room, say('ada')).catch(() => null))
  expect((await Promise.all(sends)).filter(Boolean)).toHaveLength(1)
})

test('keeps both nodes going when they write one room', async () => {
  const both = [nodes.start('one'), nodes.start('other')]
  await both[0]?.act(room, join('ada'))
  await Promise.all(Array.from({ length: 200 }, (_, index) => both[index % 2]?.act(room, say('ada', `k${index}`))))
  expect(log()).toHaveLength(201)
})

test('two nodes that write one room at full load take turns, so that few inserts fail', async () => {
  const inserts = { stored: 0, vain: 0 }
  const changes: Changes = {
    reach: async (name, work) => {
      if (name !== 'insert') return work()
      await pause(5)
      inserts.vain++
      const answer = work()
      inserts.vain--
      inserts.stored++
      return answer
    },
  }
  const both = [nodes.start('one', changes), nodes.start('other', changes)]
  await both[0]?.act(room, join('ada'))
  const end = Date.now() + 500
  const keepOn = async (_: unknown, index: number) => {
    while (Date.now() < end) await both[index % 2]?.act(room, say('ada'))
  }
  await Promise.all(Array.from({ length: 80 }, keepOn))
  expect(inserts.stored).toBeGreaterThan(10)
  expect(inserts.vain).toBeLessThan(inserts.stored / 4)
})

test('acknowledges a row whose insert was stored and whose answer was lost, once', async () => {
  let losses = 1
  const node = nodes.start('one', {
    reach: async (name, work) => {
      const answer = work()
      if (name === 'insert' && losses-- > 0) throw new Error('No answer.')
      return answer
    },
  })
  expect(await node.act(room, join('ada'))).toMatchObject({ duplicate: false, row: { seq: 1 } })
  expect(log()).toHaveLength(1)
})

test('acknowledges nothing while the store is unreachable, answers so within 3 s, and continues when it is back', async () => {
  let isAway = false
  const node = nodes.alone({
    ...fast,
    reach: async (_, work) => {
      if (isAway) throw new Error('Away.')
      return work()
    },
  })
  await node.act(room, join('ada'))
  isAway = true
  await expect(node.act(room, say('ada', 'k'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  isAway = false
  await node.act(room, say('ada', 'k'))
  expect(
    log()
      .map(({ cid }) => cid)
      .filter((cid) => cid === 'k'),
  ).toHaveLength(1)
})

test('answers every act while the store hangs', async () => {
  const node = nodes.start('one', {
    ...fast,
    reach: async (name, work) => (name === 'read' ? new Promise(() => {}) : work()),
  })
  const asked = [1, 2].map(() => node.ask(room, (view) => view.seq))
  for (const question of asked) await expect(question).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
})

test('delivers each row once and in order, though hints are repeated and reordered', async () => {
  nodes.hasHints = false
  const [one, other] = [nodes.start('one'), nodes.start('other', { pollMilliseconds: 60_000 })]
  await other.hold(room)
  const seqs = delivered(other)
  await one.act(room, join('ada'))
  for (let count = 0; count < 4; count++) await one.act(room, say('ada'))
  for (const seq of [3, 2, 2, 1, 5]) nodes.hint({ kind: 'rows', node: 'one', rows: log().slice(seq - 1, seq) })
  expect(seqs).toEqual([1, 2, 3])
  await pause(30)
  expect(seqs).toEqual([1, 2, 3, 4, 5])
})

test('finds rows without a hint by its poll, the last row too', async () => {
  nodes.hasHints = false
  const [one, other] = [nodes.start('one'), nodes.start('other')]
  await other.hold(room)
  const seqs = delivered(other)
  await one.act(room, join('ada'))
  await pause(150)
  expect(seqs).toEqual([1])
})

test('finds a row whose head was never raised, and writes the records that its node did not write', async () => {
  const dead = nodes.start('dead', {
    reach: async (name, work) => (name === 'raiseHeads' ? new Promise(() => {}) : work()),
    records: { load: async () => new Map(), save: () => new Promise(() => {}) },
  })
  const other = nodes.start('other', fast)
  nodes.hasHints = false
  await other.hold(room)
  const seqs = delivered(other)
  void dead.act(room, moderate('ban', 'ada')).catch(() => {})
  await pause(1_800)
  expect(seqs).toEqual([1])
  expect(nodes.kept.records.get(`${room} ban:ada`)).toEqual({ value: 1, seq: 1 })
  expect(nodes.memory.heads.get(room)).toMatchObject({ seq: 1, materialised: 1 })
})

test('P13: opens a room that could not be opened while the store was away', async () => {
  let isAway = true
  const node = nodes.start('one', {
    reach: async (_, work) => {
      if (isAway) throw new Error('Away.')
      return work()
    },
  })
  await expect(node.head(room)).rejects.toThrow('Away.')
  isAway = false
  expect(await node.head(room)).toMatchObject({ seq: 0 })
})

test('opens a room from its records and the rows after them', async () => {
  const before = nodes.alone()
  await before.act(room, join('ada'))
  const { row } = await before.act(room, say('ada'))
  await before.act(room, edit('ada', row?._id ?? '', 1))
  await before.act(room, slow(60_000))
  await before.close()
  nodes.memory.heads.clear()
  nodes.kept.records.delete(`${room} slow`)
  const after = nodes.alone()
  expect(await after.ask(room, (view) => [view.seq, view.total, view.get('slow'), view.get(`member:ada`)])).toEqual([
    4, 1, 60_000, 1,
  ])
  await expect(after.act(room, edit('ada', row?._id ?? '', 1))).rejects.toMatchObject({ code: 'CONFLICT' })
  await after.act(room, edit('ada', row?._id ?? '', 2))
  expect(nodes.kept.records.get(`${room} slow`)).toMatchObject({ value: 60_000 })
})

test('combines the heads of many acts in few writes, and writes the last when it stops', async () => {
  const writes = counting('raiseHeads')
  const node = nodes.alone(writes)
  await node.act(room, join('ada'))
  for (let at = 0; at < 30; at++) await node.act(room, say('ada'))
  expect(writes.count).toBeLessThan(15)
  await node.close()
  expect(nodes.memory.heads.get(room)).toMatchObject({ seq: 31, total: 30 })
})

test('raises a head that a crash left behind when the room is opened', async () => {
  const before = nodes.alone()
  await before.act(room, join('ada'))
  await before.act(room, say('ada'))
  await before.close()
  nodes.memory.heads.clear()
  await nodes.alone().head(room)
  await expect.poll(() => nodes.memory.heads.get(room)).toMatchObject({ seq: 2, total: 1 })
})

test('reads rows in memory in their newest version, without the store', async () => {
  const reads = counting('read')
  const node = nodes.alone(reads)
  await node.act(room, join('ada'))
  const { row } = await node.act(room, say('ada'))
  await node.act(room, edit('ada', row?._id ?? '', 1, 'e'))
  reads.count = 0
  const rows = await node.read(room, 1, 200)
  expect(rows.map(({ seq, applied_seq, body }) => [seq, applied_seq, body.text])).toEqual([
    [2, 3, 'e 2'],
    [3, 3, 'e 2'],
  ])
  expect(reads.count).toBe(0)
})

test('refuses only the act that the projection cannot apply, stores nothing of it, and continues', async () => {
  const broken = new Error('Not a row of ours.')
  const failing = <T>(row: Row, type: string, result: T): T => {
    if (row.type === type && row.body.text !== 'fine') throw broken
    return result
  }
  const node = nodes.alone({
    ...fast,
    projection: {
      ...projection,
      changes: (row) => failing(row, 'message', projection.changes(row)),
      rewrites: (row) => failing(row, 'edit', projection.rewrites?.(row) ?? null),
    },
  })
  await node.act(room, join('ada'))
  const acts = [say('ada', 'k', 'spoilt'), say('ada', 'l', 'fine'), edit('ada', 'nothing', 1)]
  const ends = await Promise.allSettled(acts.map((act) => node.act(room, act)))
  expect(ends).toMatchObject([
    { status: 'rejected', reason: broken },
    { status: 'fulfilled' },
    { status: 'rejected', reason: broken },
  ])
  await node.act(room, say('ada', 'm', 'fine'))
  expect(log().map(({ type }) => type)).toEqual(['join', 'message', 'message'])
})

test('M46: a row that fails to rewrite the rows in memory is stored and delivered, and the room continues', async () => {
  const quarantined: number[] = []
  const node = nodes.alone({
    ...fast,
    observer: { ...nodes.silent, quarantined: ({ seq }) => void quarantined.push(seq) },
    projection: {
      ...projection,
      rewrites: (event) =>
        event.type === 'edit'
          ? () => {
              throw new Error('Not a body of ours.')
            }
          : null,
    },
  })
  await node.act(room, join('ada'))
  const { row } = await node.act(room, say('ada'))
  await node.act(room, edit('ada', row?._id ?? '', 1))
  expect(quarantined).toEqual([3])
  await node.act(room, say('ada'))
  expect((await node.read(room, 0, 200)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
})

test.each<[string, () => never]>([
  [
    'a refusal',
    () => {
      throw new AppError('ROOM_NOT_FOUND')
    },
  ],
  [
    'an error of the code',
    () => {
      throw new TypeError('Not what it was.')
    },
  ],
])('M43: %s that is thrown on an old view is taken back on a fresh one', async (_what, refuse) => {
  nodes.hasHints = false
  const [one, other] = [nodes.start('one'), nodes.start('other', { pollMilliseconds: 60_000 })]
  await other.ask(room, (view) => view.get('member:ada'))
  await one.act(room, join('ada'))
  const act = {
    sender: 'ada',
    makes: makes('message'),
    judge: (view: View): Judgement<never> =>
      view.get('member:ada') === null ? refuse() : { accept: { type: 'message', body: {} } },
  }
  expect(await other.act(room, act)).toMatchObject({ row: { seq: 2 } })
})

test('N40: a key that another act has used is refused, wherever its row is found', async () => {
  nodes.hasHints = false
  const [one, other] = [nodes.start('one'), nodes.start('other', { pollMilliseconds: 60_000 })]
  await one.act(room, join('ada'))
  await one.act(room, say('ada', 'k'))
  const asked = { sender: 'ada', cid: 'k', makes: makes('slow') }
  const judgements = [
    { accept: { type: 'slow', body: { milliseconds: 1 } } },
    { already: null },
    { refuse: new AppError('FORBIDDEN') },
  ]
  for (const node of [one, other])
    for (const judgement of judgements)
      await expect(node.act(room, { ...asked, judge: (): Judgement<null> => judgement })).rejects.toMatchObject({
        code: 'CONFLICT',
      })
  const same = { ...say('ada', 'k'), isRepeat: (_row: Row, body: { text: string }) => body.text === 'hello' }
  expect(await other.act(room, same)).toMatchObject({ duplicate: true, body: { text: 'hello' } })
  const changed = { ...same, isRepeat: () => false }
  await expect(other.act(room, changed)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(nodes.memory.log(room)).toHaveLength(2)
})

test('N40: an act appends the event that it says it makes, and no other', async () => {
  const one = nodes.start('one')
  await expect(one.act(room, { ...join('ada'), makes: makes('leave') })).rejects.toThrow('makes leave appended join')
  expect(nodes.memory.log(room)).toEqual([])
})

test('unloads a room that is not used, after which no act waits for this node there', async () => {
  const other = nodes.start('other', { ...fast, clock: clockOf(1_000), pollMilliseconds: 10_000 })
  await other.act(room, join('ada'))
  await pause(120)
  expect(nodes.memory.leases.get(`other ${room}`)?.confirmed).toBe(Number.MAX_SAFE_INTEGER)
  expect(nodes.memory.leases.get('other global')?.confirmed).toBe(0)
})

test('M49: rooms that are only read are not leased, and are unloaded', async () => {
  let followed = 0
  const follows = (rooms: number) => {
    followed = rooms
  }
  const node = nodes.start('one', {
    ...fast,
    clock: clockOf(50),
    observer: { ...nodes.silent, follows },
  })
  await Promise.all(Array.from({ length: 300 }, (_, at) => node.ask(`channel:none ${at}`, (view) => view.seq)))
  await Promise.all(Array.from({ length: 50 }, (_, at) => node.head(`channel:no head ${at}`)))
  for (let at = 0; at < 20; at++)
    await node.act(`channel:no act ${at}`, say('ada')).catch(({ code }) => expect(code).toBe('NOT_A_MEMBER'))
  expect([...nodes.memory.leases.values()].map(({ room }) => room)).toEqual(['global'])
  await expect.poll(() => followed).toBe(1)
  expect([...nodes.memory.leases.values()].map(({ room }) => room)).toEqual(['global'])
})

test('M49: an empty room with a listener is leased, and acts wait for this node from its first row on', async () => {
  nodes.hasHints = false
  const [one, other] = [nodes.start('one'), nodes.start('other', { pollMilliseconds: 200 })]
  await other.ask(room, (view) => view.seq)
  const seqs = delivered(other)
  const release = await other.hold(room)
  expect(nodes.memory.leases.get(`other ${room}`)?.confirmed).toBe(0)
  await one.act(room, join('ada'))
  expect(await one.act(room, moderate('ban', 'ada'))).toMatchObject({ pendingNodes: 0 })
  expect(seqs).toEqual([1, 2])
  release()
})

test('M49: a room that was read before it was created is found once it exists', async () => {
  nodes.hasHints = false
  const [one, other] = [nodes.start('one'), nodes.start('other')]
  expect(await other.ask(room, (view) => view.get('member:ada'))).toBeNull()
  await one.act(room, join('ada'))
  expect(await other.ask(room, (view) => view.get('member:ada'))).toBe(1)
  await other.act(room, say('ada'))
  await pause(200)
  expect(nodes.memory.leases.has(`other ${room}`)).toBe(true)
})

test('finishes pending acts before it closes', async () => {
  const node = nodes.alone({
    reach: async (name, work) => {
      if (name === 'insert') await pause(20)
      return work()
    },
  })
  await node.act(room, join('ada'))
  const sends = Array.from({ length: 20 }, () => node.act(room, say('ada')))
  await pause(1)
  await node.close()
  expect(await Promise.all(sends)).toHaveLength(20)
  await expect(node.act(room, say('ada'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
})
