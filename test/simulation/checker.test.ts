import { expect, test } from 'vitest'
import type { Row } from '#server/log/types'
import { check } from './checker.ts'
import type { Event } from './history.ts'
import { simulate } from './simulate.ts'
import { acknowledged, asked, finished, listens, recorded, refused, type Step, story, told } from './story.ts'

const { events } = await simulate(7)

type Of<O extends Event['op']> = Extract<Event, { op: O }>

/** The history with the last matching event of a kind replaced by none, one or several events. */
function planted<O extends Event['op']>(op: O, change: (event: Of<O>) => readonly Event[] | null): readonly Event[] {
  const isOf = (event: Event): event is Of<O> => event.op === op
  for (const [back, event] of [...events].reverse().entries()) {
    const instead = isOf(event) ? change(event) : null
    if (instead) return events.toSpliced(events.length - 1 - back, 1, ...instead)
  }
  throw new Error(`The history has no such ${op}.`)
}

const row = (change: (row: Row) => Partial<Row> | null) =>
  planted('stored', (event) => {
    const fields = event.row.seq > 20 && change(event.row)
    return fields ? [{ ...event, row: { ...event.row, ...fields } }] : null
  })
const frame = (change: (event: Of<'told'>) => readonly Event[]) =>
  planted('told', (event) => (event.rows.length > 1 ? change(event) : null))

test('finds no fault in a correct history', () => {
  expect(check(events)).toEqual([])
})

const corruptions: [what: string, () => readonly Event[], fault: string][] = [
  ['a lost row', () => planted('stored', () => []), 'acknowledged and not there'],
  ['a row left out', () => planted('stored', ({ row: { seq } }) => (seq === 20 ? [] : null)), 'seq is not dense'],
  ['a row stored twice', () => planted('stored', (event) => [event, event]), 'stored twice'],
  ['another epoch', () => row(() => ({ epoch: 'another' })), 'the epoch changed'],
  ['a row dated back', () => row(({ at }) => ({ at: at - 60_000 })), 'time ran back'],
  ['a wrong number', () => row(({ n }) => (n === null ? null : { n: n + 1 })), 'wrong ordinal'],
  ['a forged reason', () => row(({ chained }) => (chained ? { reason: 'forged' } : null)), 'the chain does not verify'],
  [
    'an ack of no row',
    () => planted('acknowledged', (event) => [{ ...event, id: 'none' }]),
    'acknowledged and not there',
  ],
  ['an ack given twice', () => planted('acknowledged', (event) => [event, event]), 'an answer that nobody asked for'],
  ['a frame told twice', () => frame((event) => [event, event]), 'told out of order'],
  ['two rows swapped', () => frame((event) => [{ ...event, rows: [...event.rows].reverse() }]), 'told out of order'],
  [
    'another row',
    () => frame((event) => [{ ...event, rows: event.rows.map((each) => ({ ...each, id: 'other' })) }]),
    'shown what is not in the log',
  ],
  [
    'a page beyond the head that was judged',
    () => planted('paged', (event) => (event.rows.length > 0 ? [{ ...event, head: 1 }] : null)),
    'a page goes beyond the head that was judged',
  ],
  [
    'a page for a non-member',
    () => planted('paged', (event) => [{ ...event, head: 0 }]),
    'an outsider was given a page',
  ],
  [
    'an act without an answer',
    () => planted('acknowledged', ({ at, request }) => [{ at, op: 'silent', request, node: 'node1' }]),
    'no answer in time',
  ],
  [
    'a room that stands still',
    () => planted('welcomed', (event) => [{ ...event, answer: 'none' }]),
    'a room stands still',
  ],
  [
    'a record changed',
    () => planted('read', (event) => [{ ...event, value: 'changed' }]),
    'a record differs from the log',
  ],
  ['an event that the client leaves out', () => planted('applied', () => []), 'a reader missed a row'],
  [
    'an event that the client applies twice',
    () => planted('applied', (event) => [event, event]),
    'applied out of order',
  ],
  [
    'a record written back',
    () => planted('recorded', (event) => [event, { ...event, seq: event.seq - 1 }]),
    'a record went back',
  ],
  [
    'a node left behind',
    () => planted('follows', (event) => [{ ...event, seq: event.seq - 1 }]),
    'a node did not catch up',
  ],
]

test.each(corruptions)('notices %s in a correct history', (_, corrupted, fault) => {
  expect(check(corrupted()).map(({ what }) => what)).toContain(fault)
})

const say = { type: 'message', sender: 'ada' }
const join = { type: 'join', sender: 'ada' }
const ban = { type: 'ban', sender: 'mod', target: 'ada' }
const suspend = { ...ban, type: 'suspend', room: 'global' }

const written = (seq: number) => [recorded('member:ada', seq), recorded('room', seq)]

const stories: [what: string, readonly Step[], fault: string | null][] = [
  ['a member who writes', [join, say], null],
  ['somebody who never joined', [say], 'an outsider wrote'],
  ['a message after a ban', [join, ban, say], 'a banned one wrote'],
  ['a second ban', [join, ban, ban], 'banned twice'],
  ['a second suspension', [suspend, suspend], 'suspended twice'],
  ['a second joining', [join, join], 'joined twice'],
  ['a banned one who joins', [ban, join], 'a banned one joined'],
  ['haste', [join, { type: 'slow', sender: 'mod', milliseconds: 60 }, say, say], 'slow mode broken'],
  ['an edit of an older text', [join, say, edit(1), edit(1)], 'edited from an older version'],
  ['an edit of the text as it is', [join, say, edit(1), edit(2)], null],
  ['a suspended one who wrote before every node knew', [join, suspend, say], null],
  [
    'a message of a suspended account',
    [join, asked(suspend), suspend, recorded('suspension:ada', 1, 'global'), acknowledged(1), say],
    'a suspended one wrote after the ack',
  ],
  ['an ack too early', [asked(join), join, acknowledged(1)], 'acknowledged before its records'],
  [
    'an ack of another’s row',
    [asked({ ...join, sender: 'bo' }), join, ...written(1), acknowledged(1)],
    'acknowledged as something else',
  ],
  [
    'an order that is not the order of the acks',
    [join, say, asked(join), ...written(1), acknowledged(1), asked(say), acknowledged(2)],
    null,
  ],
  ['a refusal that was true', [join, ban, asked(say), refused('BANNED')], null],
  ['a refusal for what never was', [join, asked(say), refused('BANNED')], 'refused for what never was: BANNED'],
  [
    'a refusal for what is over',
    [ban, { ...ban, type: 'unban' }, asked(say), refused('BANNED')],
    'refused for what never was: BANNED',
  ],
  ['a refusal that is stored later', [join, ban, asked(say), refused('BANNED'), say], 'stored after its refusal'],
  ['a refusal of what is stored', [join, say, ban, asked(say), refused('BANNED')], 'refused though stored before'],
  [
    'a refusal by a node whose primary has lost its majority',
    [ban, { op: 'split', nodes: ['node'] }, { ...ban, type: 'unban' }, asked(say), refused('BANNED')],
    null,
  ],
  [
    'a refusal by a node whose primary had lost its majority',
    [
      ban,
      { op: 'split', nodes: ['node'] },
      { ...ban, type: 'unban' },
      { op: 'rejoined', nodes: ['node'] },
      asked(say),
      refused('BANNED'),
    ],
    'refused for what never was: BANNED',
  ],
  [
    'somebody who is outside when all is over',
    [join, listens('bo'), told(1), finished('bo')],
    'somebody is still outside at the end',
  ],
  ['what is said to be so already', [asked(join), { op: 'already' }], 'already so, and never was: join'],
  ['a row shown to one who has not joined', [join, listens('bo'), told(1)], 'an outsider was shown a row'],
  ['a row shown to one who joins later', [listens('ada'), say, join, told(1)], 'an outsider was shown a row'],
  ['a row shown after the removal', [join, listens('ada'), ban, say, told(2, 3)], 'an outsider was shown a row'],
  [
    'a frame after the removal',
    [join, listens('ada'), ban, told(2), say, told(3)],
    'shown to somebody who does not listen',
  ],
]

test.each(stories)('judges %s', (_, steps, fault) => {
  const found = check(story(...steps)).map(({ what }) => what)
  if (fault === null) expect(found).toEqual([])
  else expect(found).toContain(fault)
})

function edit(version: number) {
  return { type: 'edit', sender: 'ada', target: 'row2', version }
}

test('a node may tell a member of rows from before the joining, where it was behind', () => {
  const found = check(story(join, listens('ada'), told(1))).map(({ what }) => what)
  expect(found).not.toContain('an outsider was shown a row')
})
