import { describe, expect, test } from 'vitest'
import { check, type FaultName } from './checker.ts'
import type { Effect, Entry, Heard, LogRow, Send, Snapshot } from './history.ts'
import { checkRecords, type RoomRecords } from './records.ts'

const room = 'channel:1'

/** A run without faults: permitted messages are stored, others are refused, and every reader sees the log. */
class Run {
  readonly log: LogRow[] = []
  readonly history: Entry[] = []
  #messages = 0

  row(sender: string, effect: Effect, cid: string | null = null, at = 1_000 * (this.log.length + 1)): LogRow {
    const seq = this.log.length + 1
    const row = { room, seq, epoch: 'e', id: `id-${seq}`, sender, cid: cid ?? `act-${seq}`, at, effect }
    this.log.push(row)
    return row
  }

  message(sender: string, cid: string, at?: number): LogRow {
    return this.row(sender, { kind: 'message', n: ++this.#messages, text: `text of ${cid}` }, cid, at)
  }

  send(account: string, cid: string, ...after: readonly Partial<Send>[]): void {
    const asked = { t: 0, proc: account, op: 'send', room, cid, account } as const
    this.history.push({ ...asked, type: 'invoke', text: `text of ${cid}` })
    for (const answer of after) this.history.push({ ...asked, type: 'ok', ...answer })
  }

  /** Stored, and acknowledged. */
  says(sender: string, cid: string, at?: number): LogRow {
    const row = this.message(sender, cid, at)
    this.send(sender, cid, { type: 'ok', seq: row.seq, id: row.id })
    return row
  }

  reads(account: string, rows: readonly LogRow[], isLive = true): void {
    for (const row of rows) this.history.push(heard(account, row, isLive))
  }

  told(proc: string, rows: readonly LogRow[]): void {
    for (const { seq } of rows) this.history.push({ t: 0, proc, op: 'arrive', room, type: 'ok', socket: 1, seq })
  }

  sees(seq: number, state: Partial<Snapshot['state']> = {}): void {
    const rules = { version: 1, slow_mode_seconds: 0, read_only: false }
    const whole = { members: 3, rules, pins: [], ...state }
    this.history.push({ t: 0, proc: 'observer', op: 'snapshot', room, type: 'ok', seq, state: whole })
  }

  faults(): FaultName[] {
    return [...new Set(check(this.history, new Map([[room, this.log]])).map(({ fault }) => fault))]
  }
}

function heard(account: string, row: LogRow, isLive = true): Heard {
  const { seq, epoch, id, cid, effect } = row
  const isMessage = effect.kind === 'message'
  return {
    ...{ t: 0, proc: `reader ${account}`, op: 'recv', room, type: 'ok', account, seq, epoch, isLive },
    event: effect.kind,
    id: isMessage ? id : null,
    cid: isMessage ? cid : null,
    text: isMessage ? effect.text : null,
  }
}

const rules = (slow_mode_seconds: number, read_only = false): Effect => ({
  kind: 'rules',
  rules: { version: 2, slow_mode_seconds, read_only },
})

function goodRun(): Run {
  const run = new Run()
  for (const [at, who] of ['ann', 'bob', 'cid'].entries()) run.row(who, { kind: 'joined', who, members: at + 1 })
  run.sees(3)
  run.says('ann', 'a1')
  run.says('bob', 'b1')
  run.row('ann', { kind: 'ban', who: 'cid', members: 2 })
  run.send('cid', 'c1', { type: 'fail', code: 'BANNED', seq: 6 })
  run.says('bob', 'b2')
  run.sees(7, { members: 2 })
  for (const who of ['ann', 'cid']) run.reads(who, run.log.slice(0, 3), false)
  run.reads('ann', run.log.slice(3))
  run.told('ann', run.log.slice(3))
  run.reads('cid', run.log.slice(3, 6))
  return run
}

const planted: readonly (readonly [what: string, fault: FaultName, plant: (run: Run) => void])[] = [
  ['an acknowledged row dropped from the end', 'lost', ({ log }) => log.splice(-1)],
  ['an acknowledgement that was never stored', 'lost', (run) => run.send('bob', 'b9', { seq: 5, id: 'id-5' })],
  [
    'an acknowledgement of another row',
    'lost',
    ({ history }) => replace(history, 'send', ({ type }) => type === 'ok', { id: 'id-1' }),
  ],
  ['a row dropped from the middle', 'gaps', ({ log }) => log.splice(4, 1)],
  ['a row of another epoch', 'gaps', ({ log }) => void log.splice(4, 1, { ...at(log, 4), epoch: 'f' })],
  ['a row stored twice', 'duplicated', (run) => void run.message('bob', 'b2')],
  ['a second ban', 'duplicated', (run) => void run.row('ann', { kind: 'ban', who: 'cid', members: 2 })],
  ['two rows swapped', 'gaps', ({ log }) => swap(log, 3, 4)],
  ['time that runs back', 'out of order', ({ log }) => void log.splice(4, 1, { ...at(log, 4), at: 1 })],
  [
    'a later send stored before an earlier one that was answered',
    'out of order',
    (run) => {
      const [first, second] = [run.message('bob', 'x'), run.message('bob', 'y')]
      run.send('bob', 'y', { seq: second.seq, id: second.id })
      run.send('bob', 'x', { seq: first.seq, id: first.id })
    },
  ],
  ['a message of the banned', 'wrongly accepted', (run) => void run.says('cid', 'c2')],
  ['a message of an outsider', 'wrongly accepted', (run) => void run.says('dan', 'd1')],
  [
    'a message of a muted person',
    'wrongly accepted',
    (run) => {
      run.row('ann', { kind: 'mute', who: 'bob', members: null })
      run.says('bob', 'b3')
    },
  ],
  [
    'a message in a read-only room',
    'wrongly accepted',
    (run) => {
      run.row('ann', rules(0, true))
      run.says('bob', 'b3')
    },
  ],
  [
    'slow mode broken',
    'wrongly accepted',
    (run) => {
      run.row('ann', rules(5))
      run.says('bob', 'b3', 20_000)
      run.says('bob', 'b4', 24_700)
    },
  ],
  [
    'a refusal of a stored message',
    'wrongly accepted',
    (run) => {
      run.message('bob', 'b3')
      run.send('bob', 'b3', { type: 'fail', code: 'BANNED', seq: 7 })
    },
  ],
  [
    'a refusal without a reason',
    'wrongly refused',
    (run) => run.send('bob', 'b3', { type: 'fail', code: 'MUTED', seq: 7 }),
  ],
  [
    'a refusal that was judged on an outdated state',
    'wrongly refused',
    (run) => {
      run.row('ann', { kind: 'unban', who: 'cid', members: null })
      run.row('cid', { kind: 'joined', who: 'cid', members: 3 })
      run.says('bob', 'b3')
      run.send('cid', 'c3', { type: 'fail', code: 'BANNED', seq: 6 })
    },
  ],
  ['a refusal that names no seq', 'wrongly refused', (run) => run.send('cid', 'c3', { type: 'fail', code: 'BANNED' })],
  ['a message nobody sent', 'unexpected', (run) => void run.message('bob', 'b3')],
  [
    'a message changed on its way',
    'unexpected',
    ({ log }) => void log.splice(3, 1, { ...at(log, 3), effect: { kind: 'message', n: 1, text: 'other' } }),
  ],
  [
    'a reader that was shown another text',
    'unexpected',
    ({ history }) => replace(history, 'recv', ({ seq }) => seq === 5, { text: 'other' }),
  ],
  ['a reader that ends early', 'missing', ({ history }) => drop(history, 'recv', ({ seq }) => seq === 7)],
  ['a reader with a gap', 'gaps', ({ history }) => drop(history, 'recv', ({ seq }) => seq === 5)],
  ['a reader shown a row twice', 'duplicated', ({ history }) => repeat(history, 'recv', ({ seq }) => seq === 5)],
  ['a reader shown rows swapped', 'out of order', ({ history }) => swapHeard(history, 4, 5)],
  ['a connection told a row twice', 'duplicated', ({ history }) => repeat(history, 'arrive', ({ seq }) => seq === 5)],
  ['a connection not told a row', 'gaps', ({ history }) => drop(history, 'arrive', ({ seq }) => seq === 5)],
  ['the banned told what came after', 'leaked', (run) => run.reads('cid', run.log.slice(6))],
  ['the banned given what came after', 'leaked', (run) => run.reads('cid', run.log.slice(6), false)],
  [
    'two answers to one send',
    'contradicted',
    ({ history }) => void history.push({ ...firstOk(history), seq: 5, id: 'id-5', cid: 'a1' }),
  ],
  ['a state that the events do not make', 'contradicted', (run) => run.sees(7, { members: 9 })],
  ['pins that the events do not make', 'contradicted', (run) => run.sees(7, { members: 2, pins: ['id-4'] })],
]

const rulesOfGoodRun = { version: 0, slow_mode_seconds: 0, read_only: false }
const recordsOfGoodRun: RoomRecords = {
  members: ['ann', 'bob'],
  banned: ['cid'],
  muted: [],
  member_count: 2,
  rules: rulesOfGoodRun,
  pins: [],
  pinned: [],
}

describe('the check of records', () => {
  const found = (records: Partial<RoomRecords>) =>
    checkRecords(room, goodRun().log, { ...recordsOfGoodRun, ...records }).map(({ what }) => what.split(':')[0])

  test('finds nothing if they follow from the log', () => expect(found({})).toEqual([]))

  test.each<Partial<RoomRecords>>([
    { members: ['ann'] },
    { banned: [] },
    { muted: ['bob'] },
    { member_count: 3 },
    { rules: { ...rulesOfGoodRun, read_only: true } },
    { pins: ['id-4'] },
    { pinned: ['id-4'] },
  ])('names what says otherwise: %j', (wrong) => expect(found(wrong)).toEqual(Object.keys(wrong)))
})

describe('the checker of histories', () => {
  test('finds nothing in a run without faults', () => expect(goodRun().faults()).toEqual([]))

  test.each(planted)('names %s: %s', (_what, fault, plant) => {
    const run = goodRun()
    plant(run)
    expect(run.faults()).toContain(fault)
  })

  test('takes a send of unknown fate as stored once or not at all', () => {
    const run = goodRun()
    run.send('bob', 'unknown and gone', { type: 'info' })
    const row = run.message('bob', 'unknown and there')
    run.send('bob', 'unknown and there', { type: 'info' })
    run.reads('ann', [row])
    expect(run.faults()).toEqual([])
  })

  test('allows the first try of a send to be stored after a later try was refused', () => {
    const run = goodRun()
    run.row('ann', rules(0, true))
    run.send('bob', 'late', { type: 'info' }, { type: 'fail', code: 'READ_ONLY', seq: 8 })
    run.row('ann', rules(0))
    run.message('bob', 'late')
    run.reads('ann', run.log.slice(7))
    expect(run.faults()).toEqual([])
  })

  test('does not compare senders and texts in a room where bytes were changed', () => {
    const run = goodRun()
    run.reads('ann', [run.message('bob', 'garbled')])
    expect(check(run.history, new Map([[room, run.log]]), new Set([room]))).toEqual([])
  })
})

function at(log: readonly LogRow[], index: number): LogRow {
  const row = log[index]
  if (!row) throw new Error(`There is no row ${index}`)
  return row
}

function swap(log: LogRow[], one: number, other: number): void {
  const [first, second] = [at(log, one), at(log, other)]
  log.splice(one, 1, second)
  log.splice(other, 1, first)
}

type Of<O extends Entry['op']> = Extract<Entry, { op: O }>

function indexOf<O extends Entry['op']>(history: readonly Entry[], op: O, fits: (entry: Of<O>) => boolean): number {
  const index = history.findIndex((entry) => entry.op === op && fits(entry as Of<O>))
  if (index === -1) throw new Error('There is no such entry')
  return index
}

function replace<O extends Entry['op']>(
  history: Entry[],
  op: O,
  fits: (entry: Of<O>) => boolean,
  fields: Partial<Of<O>>,
): void {
  const index = indexOf(history, op, fits)
  history[index] = { ...history[index], ...fields } as Entry
}

function drop<O extends Entry['op']>(history: Entry[], op: O, fits: (entry: Of<O>) => boolean): void {
  history.splice(indexOf(history, op, fits), 1)
}

function repeat<O extends Entry['op']>(history: Entry[], op: O, fits: (entry: Of<O>) => boolean): void {
  const index = indexOf(history, op, fits)
  history.splice(index, 0, ...history.slice(index, index + 1))
}

function swapHeard(history: Entry[], one: number, other: number): void {
  const [first, second] = [one, other].map((seq) => indexOf(history, 'recv', (heardOne) => heardOne.seq === seq))
  const entries = [...history]
  for (const [to, from] of [
    [first, second],
    [second, first],
  ]) {
    const entry = entries[from ?? 0]
    if (entry && to !== undefined) history[to] = entry
  }
}

function firstOk(history: readonly Entry[]): Send {
  const found = history.find((entry): entry is Send => entry.op === 'send' && entry.type === 'ok')
  if (!found) throw new Error('Nothing was acknowledged')
  return found
}
