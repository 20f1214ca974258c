import { afterEach, describe, expect, test } from 'vitest'
import { GLOBAL, type Row, SKIPPED } from '#server/log/index'
import { join, makes, moderate, say } from './chat.ts'
import { clockOf, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'
const log = () => nodes.memory.log(room)
const types = () => log().map(({ type }) => type)

/** An act with this body, which is always accepted. */
const raw = (body: unknown, cid?: string) => ({
  sender: 'ada',
  cid,
  makes: makes('message'),
  judge: () => ({ accept: { type: 'message', body: body as Row['body'] } }),
})
const nested = (depth: number): object => (depth === 0 ? {} : { in: nested(depth - 1) })
function cyclic(): object {
  const one: { self?: object } = {}
  one.self = one
  return one
}

const named = ['_bsontype', 'toBSON', 'toJSON', '$set', 'a.b', 'a\0b', '__proto__', '\ud800']
const poison: [string, unknown][] = [
  ...named.map((name): [string, unknown] => [`the name ${JSON.stringify(name)}`, Object.fromEntries([[name, 1]])]),
  ...named.map((name): [string, unknown] => [
    `the name ${JSON.stringify(name)} below`,
    { in: [{ counts: Object.fromEntries([[name, 1]]) }] },
  ]),
  ['a BigInt', { big: 2n ** 70n }],
  ['a function', { call: () => 1 }],
  ['a symbol', { mark: Symbol('x') }],
  ['an instance', { at: new Map([[1, 2]]) }],
  ['a circle', cyclic()],
  ['a hundred and one levels', nested(101)],
  ['17 MB', { text: 'x'.repeat(17_000_000) }],
]

describe('M41: a value that no store can hold', () => {
  test.each(poison)('%s: the act is refused at once, the others of its turn are stored', async (_title, body) => {
    let inserts = 0
    const node = nodes.alone({
      reach: async (name, work) => {
        if (name === 'insert') inserts++
        return work()
      },
    })
    await node.act(room, join('ada'))
    const acts = [raw({ text: 'before' }), raw(body), raw({ text: 'after' })]
    const ends = await Promise.allSettled(acts.map((act) => node.act(room, act)))
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(ends[1]).toMatchObject({ reason: { code: 'VALIDATION_ERROR' } })
    expect(log().map(({ body }) => body.text)).toEqual([undefined, 'before', 'after'])
    expect(inserts).toBe(2)
  })

  test('null, NaN, negative zero and lone surrogates in values are stored', async () => {
    const node = nodes.alone()
    await node.act(room, raw({ none: null, not: Number.NaN, zero: -0, cut: 'a\ud800', gone: undefined }))
    expect(log()).toHaveLength(1)
  })
})

class Unencodable extends Error {}

/** A store that fails each insert of one text with `fail`. */
const picky = (fail: () => Promise<never>) => ({
  insert: (rows: readonly Row[]) => (rows.some(({ body }) => body.text === 'poison') ? fail() : null),
})

function start(fail: () => Promise<never>, changes: object = {}) {
  const encoder = picky(fail)
  const told: string[] = []
  const store = nodes.storeOf(false)
  const node = nodes.start('one', {
    store: { ...store, insert: (rows) => encoder.insert(rows) ?? store.insert(rows) },
    isNeverSent: (error) => error instanceof Unencodable,
    observer: {
      ...nodes.silent,
      isolated: (key) => told.push(`isolated ${key}`),
      released: (key) => told.push(`released ${key}`),
    },
    ...changes,
  })
  return { node, told }
}

test('M41: an unexpected encoding error refuses only its act, and the others of its turn are stored', async () => {
  const { node } = start(() => Promise.reject(new Unencodable()))
  await node.act(room, join('ada'))
  const texts = ['a', 'b', 'poison', 'c', 'd']
  const ends = await Promise.allSettled(texts.map((text) => node.act(room, say('ada', text, text))))
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(ends[2]).toMatchObject({ reason: { code: 'VALIDATION_ERROR' } })
  expect(log().flatMap(({ body }) => body.text ?? [])).toEqual(['a', 'b', 'c', 'd'])
  expect(types()).toContain(SKIPPED)
  expect(log().map(({ seq }) => seq)).toEqual(log().map((_, at) => at + 1))
})

describe('M41: a turn that does not end', () => {
  const fast = { clock: clockOf(50), pollMilliseconds: 500 }

  test('is isolated after 5 s and reported, delays no other room, and its room continues', async () => {
    const { node, told } = start(() => Promise.reject(new Error('For no reason.')), {
      ...fast,
      policy: { deadlineFactor: 10 },
    })
    await node.act(room, join('ada'))
    await node.act('channel:two', join('ada'))
    const stuck = node.act(room, say('ada', 'p', 'poison'))
    await expect(stuck).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await node.act('channel:two', say('ada'))
    await expect.poll(() => told).toEqual([`isolated ${room}`, `released ${room}`])
    await node.act(room, say('ada'))
    expect(types()).toEqual(['join', SKIPPED, 'message'])
    expect(await node.act(GLOBAL, moderate('suspend', 'bo'))).toMatchObject({ pendingNodes: 0 })
  })

  test('refuses new acts at once, and reserves the seq of the hung insert until its outcome is known', async () => {
    let release: (error: Error) => void = () => {}
    const hung = new Promise<never>((_, reject) => {
      release = reject
    })
    // An act that is queued is refused only after 300 s of the log, 6 s here.
    const { node, told } = start(() => hung, { ...fast, policy: { deadlineFactor: 100 } })
    await node.act(room, join('ada'))
    void node.act(room, say('ada', 'p', 'poison')).catch(() => {})
    await expect.poll(() => told).toEqual([`isolated ${room}`])
    const asked = performance.now()
    await expect(node.act(room, say('ada'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(performance.now() - asked).toBeLessThan(3_000)
    expect(types()).toEqual(['join'])
    release(new Error('At last.'))
    await expect.poll(() => told).toContain(`released ${room}`)
    await node.act(room, say('ada'))
    expect(types()).toEqual(['join', SKIPPED, 'message'])
  })

  test('is not isolated by the first poll after the process was paused', async () => {
    let shift = 0
    let polls = 0
    let release: () => void = () => {}
    const hung = new Promise<void>((resolve) => {
      release = resolve
    })
    const store = nodes.storeOf(true)
    const clock = { ...clockOf(1), elapsed: () => performance.now() + shift }
    const node = nodes.alone({
      clock,
      policy: { deadlineFactor: 10 },
      pollMilliseconds: 300,
      observer: { ...nodes.silent, follows: () => void polls++ },
      store: {
        ...store,
        insert: async (rows) => {
          if (rows.some(({ type }) => type === 'message')) await hung
          return store.insert(rows)
        },
      },
    })
    await node.act(room, join('ada'))
    const sent = node.act(room, say('ada'))
    await pause(10)
    const before = polls
    shift = 6_000
    await expect.poll(() => polls, { interval: 5 }).toBe(before + 1)
    const next = node.act(room, say('ada'))
    release()
    expect((await Promise.all([sent, next])).map(({ row }) => row?.seq)).toEqual([2, 3])
  })

  test('continues after a row that turns out to be stored', async () => {
    let isAway = true
    const { node, told } = start(() => Promise.reject(new Error('Away.')), {
      ...fast,
      store: nodes.storeOf(false, async (name, work) => {
        if (name === 'insert' && isAway && log().length > 0) throw new Error('Away.')
        return work()
      }),
    })
    await node.act(room, join('ada'))
    const sent = node.act(room, say('ada', 'k')).catch(() => null)
    await expect.poll(() => told).toEqual([`isolated ${room}`])
    isAway = false
    await sent
    await expect.poll(() => told).toContain(`released ${room}`)
    expect(await node.act(room, say('ada', 'k'))).toMatchObject({ duplicate: true })
    expect(types()).toEqual(['join', 'message'])
  })
})
