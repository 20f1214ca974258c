import { expect, test } from 'vitest'
import { projection } from '#server/domains/rooms/room-state/projection'
import { records } from '#server/domains/rooms/room-state/records'
import { type Fact, type Json, ROW_VERSION, type Row } from '#server/log/types'
import { plainMessage } from '#test/support/plain-message'
import { Collections } from './collections.ts'
import { isSame } from './record-check.ts'
import { World } from './world.ts'

const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1)
const ROWS = 40
const NODES = 3
const PATIENCE = 60_000
const room = 'channel:a'
const people = ['ada', 'bo']
const actor = { name: 'mod', role: null }

type Resolved = { key: string; value: Fact; row: Row }

const message = (text: string) => ({
  actor,
  ...plainMessage(text),
  mentions: [{ kind: 'user', id: 'bo', start: 0, len: 1 }],
  flagged: ['word'],
})

/** A random change of a person or a message. */
function eventOf(world: World, seq: number, messages: readonly Row[]): Pick<Row, 'type' | 'body' | 'target'> {
  const who = world.pick(people)
  const about = messages.length > 0 ? world.pick(messages) : null
  const at = `at ${seq}`
  const term = { user_address: who, reason: at }
  const applied = (action: string, more: Row['body']) => ['moderation.applied', { action, ...more }] as const
  const choices: (readonly [type: string, body: Row['body']])[] = [
    ['member.joined', { member: { user_address: who, role: 'member', joined_at: at }, member_count: seq }],
    ['member.removed', { member_count: seq }],
    applied('ban', { ban: { ...term, ban_id: at, banned_by: 'mod', banned_at: at, banned_until: null } }),
    applied('unban', {}),
    applied('mute', { mute: { ...term, mute_id: at, muted_by: 'mod', muted_at: at, muted_until: at } }),
    applied('unmute', {}),
    ['rules.updated', { rules: { version: seq }, diff: {} }],
    ['room.updated', { patch: { description: at } }],
    ['block.changed', { blocker: who, on: seq % 2 === 0 }],
    ['message.created', message(at)],
  ]
  if (about) {
    const edited = { ...message(`edited ${at}`), flagged: [] }
    choices.push(
      [
        'message.edited',
        { id: about._id, message: { id: about._id, seq: about.seq, body: edited } as unknown as Json },
      ],
      ['message.pinned', { id: about._id, at }],
      ['message.unpinned', { id: about._id }],
      [
        'reaction.changed',
        { id: about._id, emoji: 'e', on: true, counts: { e: seq }, mine: [{ id: at, emoji: 'e', at }] },
      ],
    )
  }
  const [type, body] = world.pick(choices)
  return { type, body: { actor, ...body }, target: who }
}

function logOf(world: World): Row[] {
  const log: Row[] = []
  for (let seq = 1; seq <= ROWS; seq++) {
    const messages = log.filter(({ type }) => type === 'message.created')
    const event = eventOf(world, seq, messages)
    const n = event.type === 'message.created' ? messages.length + 1 : null
    const ids = { v: ROW_VERSION, _id: `id-${seq}`, room, seq, epoch: 'e', cid: `c${seq}`, sender: event.target ?? '' }
    const rest = { until: null, reason: null, at: seq, chain: '', chained: false, applied_seq: seq }
    log.push({ ...ids, ...event, ...rest, n, total: messages.length })
  }
  return log
}

/** Every value that each fact has had, by the real projection. */
function courseOf(log: readonly Row[], facts: Map<string, Fact>): Resolved[] {
  return log.flatMap((row) => {
    if (row.type === 'message.created')
      facts.set(`message:${row._id}`, { id: row._id, n: row.n, body: row.body } as unknown as Fact)
    return projection.changes(row).map((change) => {
      const value = 'value' in change ? change.value : change.patch(facts.get(change.key) ?? null)
      facts.set(change.key, value)
      return { key: change.key, value, row }
    })
  })
}

const roomDocument = {
  _id: room,
  type: 'channel',
  id: 'a',
  name: 'a',
  emoji: 'e',
  category: 'c',
  member_count: 0,
  is_active: true,
  peers: [],
  description: null,
  slug: 'a',
  applied_seq: 0,
}

/** Writes rows from several nodes at once, each at least once, and returns the faults. */
async function run(seed: number): Promise<{ faults: string[]; races: number }> {
  const world = new World(seed)
  const faults = new Set<string>()
  const collections = new Collections(world, { lost: 0.1, torn: 0.2 }, (name, before, after) => {
    if (before && Number(after.applied_seq) < Number(before.applied_seq)) faults.add(`${name} went back`)
  })
  collections.connect()
  collections.put('rooms', roomDocument)
  const { type: _, id: __, _id: ___, peers: ____, applied_seq: _____, ...asFact } = roomDocument
  const facts = new Map<string, Fact>([['room', asFact as unknown as Fact]])
  const log = logOf(world)
  const course = courseOf(log, facts)
  for (const row of log) if (row.type === 'message.created') collections.put('room_events', { ...row } as never)

  // The models need some ticks, in which nothing else may be due.
  const beat = () => void world.after(0.5, beat)
  beat()
  const written = async (changes: readonly Resolved[]) => {
    for (let isDone = false; !isDone; ) {
      try {
        await records.save(room, changes)
        isDone = true
      } catch {
        await world.sleep(1)
      }
    }
    const found = await records.load(room, [...new Set(changes.map(({ key }) => key))])
    for (const { key, row } of changes)
      if (hasRecord(key) && (found.get(key)?.seq ?? 0) < row.seq) faults.add(`acknowledged before its record: ${key}`)
  }
  let working = 0
  const work = async (rows: readonly number[]) => {
    working++
    for (const seq of rows) {
      const width = Math.ceil(world.between(0, 6))
      await written(course.filter(({ row }) => row.seq >= seq && row.seq < seq + width))
    }
    working--
  }
  const seqs = log.map(({ seq }) => seq)
  for (let node = 0; node < NODES; node++) void work(seqs.filter((seq) => seq % NODES === node || world.chance(0.4)))
  for (let left = PATIENCE; working > 0 && left > 0; left -= 20) await world.run({ milliseconds: 20 })
  if (working > 0) faults.add('somebody never ended')

  let isCompared = false
  const compare = async () => {
    for (const [key, value] of facts) {
      if (!hasRecord(key)) continue
      const found = (await records.load(room, [key])).get(key)
      const seen = key.startsWith('message:') ? (found?.value as { body: Json } | null)?.body : found?.value
      const wanted = key.startsWith('message:') ? (value as { body: Json }).body : value
      if (!isSame(seen ?? null, wanted)) faults.add(`differs from the log: ${key}`)
    }
    isCompared = true
  }
  collections.isHealed = true
  void compare()
  for (let left = PATIENCE; !isCompared && left > 0; left -= 20) await world.run({ milliseconds: 20 })
  if (!isCompared) faults.add('the comparison never ended')
  return { faults: [...faults], races: collections.races }
}

/** Messages are their own records; word lists and polls are not part of this test. */
const hasRecord = (key: string) => !key.startsWith('clock:')

test('P1 P7: records that several nodes write at once, with partial and unanswered writes, at the end agree with the log', async () => {
  let races = 0
  for (const seed of SEEDS) {
    const result = await run(seed)
    expect({ seed, faults: result.faults }).toEqual({ seed, faults: [] })
    races += result.races
  }
  // The test proves nothing if no upserts overlap.
  expect(races).toBeGreaterThan(15)
}, 240_000)
