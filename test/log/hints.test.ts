import { afterEach, expect, test } from 'vitest'
import { hintFrom, hintsOver } from '#server/log/hints'
import type { Hint, Row } from '#server/log/types'
import { join, say } from './chat.ts'
import { Nodes, pause } from './nodes.ts'

const row = (seq: number, more: Partial<Row> = {}): Row => ({
  _id: `id-${seq}`,
  room: 'channel:a',
  seq,
  epoch: 'e',
  type: 'message.created',
  n: seq,
  total: seq,
  sender: '0xaa',
  cid: `c${seq}`,
  body: { text: 'x' },
  target: null,
  until: null,
  reason: null,
  at: 1,
  chain: '',
  chained: false,
  applied_seq: seq,
  v: 1,
  ...more,
})
const rows = (...all: unknown[]) => ({ kind: 'rows', node: 'one', rows: all })

test.each<[string, unknown]>([
  ['nothing', null],
  ['a text', 'rows'],
  ['a list', []],
  ['another kind', { kind: 'other', node: 'one' }],
  ['no node', { kind: 'rows', rows: [row(1)] }],
  ['no rows', { kind: 'rows', node: 'one' }],
  ['a row of another room', rows(row(1), row(2, { room: 'channel:b' }))],
  ['a row without a body', rows({ ...row(1), body: undefined })],
  ['a seq that is no count', rows({ ...row(1), seq: 1.5 })],
  ['a seq below nothing', rows({ ...row(1), seq: -1 })],
  ['an endless key', rows(row(1, { cid: 'c'.repeat(10_000) }))],
  ['more rows than a turn makes', rows(...Array.from({ length: 513 }, (_, at) => row(at)))],
  ['a confirmation of another room', { kind: 'applied', node: 'one', room: 'channel:b', seq: 1 }],
  ['a collision in another room', { kind: 'collided', node: 'one', room: 'channel:b' }],
  ['a confirmation of no count', { kind: 'applied', node: 'one', room: 'channel:a', seq: Number.NaN }],
])('%s is no hint', (_title, word) => expect(hintFrom(word, 'channel:a')).toBeNull())

test('rows, confirmations and collisions of a room are sent as hints', () => {
  expect(hintFrom(rows(row(1), row(2)), 'channel:a')).toEqual(rows(row(1), row(2)))
  const applied = { kind: 'applied', node: 'one', room: 'channel:a', seq: 3 }
  expect(hintFrom(applied, 'channel:a')).toEqual({ ...applied, kind: 'confirmed' })
  const collided = { kind: 'collided', node: 'one', room: 'channel:a' }
  expect(hintFrom(collided, 'channel:a')).toEqual(collided)
})

/** A channel whose messages hold at most `most` rows. */
function wire(most: number) {
  const told: { topic: string; hint: Hint }[] = []
  const heard = new Map<string, (word: unknown) => void>()
  return {
    told,
    say: (topic: string, word: unknown) => heard.get(topic)?.(word),
    isUp: () => true,
    tell(topic: string, word: unknown) {
      const hint = word as Hint
      if (hint.kind === 'rows' && hint.rows.length > most) return false
      told.push({ topic, hint })
      return true
    },
    listen(topic: string, listener: (word: unknown) => void) {
      heard.set(topic, listener)
      return () => void heard.delete(topic)
    },
  }
}

test('a hint that is too long for one message is sent in parts, in order and complete', () => {
  const narrow = wire(2)
  const all = Array.from({ length: 7 }, (_, at) => row(at + 1))
  hintsOver(narrow).publish({ kind: 'rows', node: 'one', rows: all })
  expect(narrow.told.every(({ topic }) => topic === 'log:channel:a')).toBe(true)
  expect(narrow.told.flatMap(({ hint }) => (hint.kind === 'rows' ? hint.rows : []))).toEqual(all)
})

test('M52: a confirmation is sent in the form that every version knows', () => {
  const told: unknown[] = []
  const tell = (_topic: string, word: unknown) => told.push(word) > 0
  hintsOver({ isUp: () => true, tell, listen: () => () => {} }).publish({
    kind: 'confirmed',
    node: 'one',
    room: 'channel:a',
    seq: 3,
  })
  expect(told).toEqual([{ kind: 'applied', node: 'one', room: 'channel:a', seq: 3 }])
})

test('hints of a room are received while it is open, and malformed ones are dropped', () => {
  const open = wire(512)
  const hints = hintsOver(open)
  const heard: Hint[] = []
  hints.subscribe((hint) => heard.push(hint))
  open.say('log:channel:a', rows(row(1)))
  hints.follow?.('channel:a')
  open.say('log:channel:a', rows(row(2)))
  open.say('log:channel:a', { kind: 'rows', node: 'one', rows: [{}] })
  hints.leave?.('channel:a')
  open.say('log:channel:a', rows(row(3)))
  expect(heard).toEqual([rows(row(2))])
})

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

test('a hinted row that is not in the log, or is of another epoch, is neither delivered nor waited for', async () => {
  nodes.hasHints = false
  const room = 'channel:one'
  let reads = 0
  const one = nodes.start('one')
  const other = nodes.start('other', {
    pollMilliseconds: 60_000,
    reach: async (name, work) => {
      if (name === 'read') reads++
      return work()
    },
  })
  await one.act(room, join('ada'))
  await other.hold(room)
  const seqs: number[] = []
  other.onRows((_, taken) => void seqs.push(...taken.map(({ seq }) => seq)))
  const [first] = nodes.memory.log(room)
  if (!first) throw new Error('Nothing was appended.')
  nodes.hint({ kind: 'rows', node: 'one', rows: [{ ...first, seq: 2, epoch: 'another' }] })
  nodes.hint({ kind: 'rows', node: 'one', rows: [{ ...first, seq: 1_000_000 }] })
  await pause(50)
  const before = reads
  await one.act(room, say('ada'))
  await one.act(room, say('ada'))
  for (const row of nodes.memory.log(room).slice(1)) nodes.hint({ kind: 'rows', node: 'one', rows: [row] })
  await pause(50)
  expect(seqs).toEqual([2, 3])
  expect(reads).toBe(before)
})

test('hinted rows of another epoch are not delivered, whether they arrive in order or early', async () => {
  nodes.hasHints = false
  const room = 'channel:one'
  const one = nodes.start('one')
  const other = nodes.start('other', { pollMilliseconds: 60_000 })
  await one.act(room, join('ada'))
  await other.hold(room)
  const ids: string[] = []
  other.onRows((_, taken) => void ids.push(...taken.map(({ _id }) => _id)))
  await one.act(room, say('ada'))
  await one.act(room, say('ada'))
  const [, second, third] = nodes.memory.log(room)
  if (!second || !third) throw new Error('Too little was appended.')
  const foreign = [second, third].map((each) => ({ ...each, epoch: 'another', _id: `foreign ${each.seq}` }))
  for (const each of foreign.reverse()) nodes.hint({ kind: 'rows', node: 'one', rows: [each] })
  nodes.hint({ kind: 'rows', node: 'one', rows: [second] })
  expect(ids).toEqual([second._id])
  nodes.hint({ kind: 'rows', node: 'one', rows: [third] })
  expect(ids).toEqual([second._id, third._id])
})
