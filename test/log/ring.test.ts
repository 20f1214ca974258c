import { expect, test } from 'vitest'
import type { Row } from '#server/log/types'
import { RowRing } from '#server/log/waiting'

const row = (seq: number, applied_seq = seq): Row => ({
  _id: `id-${seq}`,
  room: 'channel:a',
  v: 1,
  seq,
  epoch: 'e',
  type: 'message',
  n: seq,
  total: seq,
  sender: 'ada',
  cid: `c${seq}`,
  body: { text: 'as it is' },
  target: null,
  until: null,
  reason: null,
  at: 1,
  chain: '',
  chained: false,
  applied_seq,
})

function ringOf(...rows: readonly Row[]): RowRing {
  const ring = new RowRing()
  for (const each of rows) ring.push(each)
  return ring
}

const texts = (ring: RowRing) => ring.after(0).map(({ body }) => body.text)
const rewritten = (each: Row): Row => ({ ...each, body: { text: 'rewritten' } })

test('a page begins with the row after the given seq, wherever the ring begins', () => {
  const ring = ringOf(...[1, 2, 3, 4, 5].map((seq) => row(seq)))
  expect(ring.after(2).map(({ seq }) => seq)).toEqual([3, 4, 5])
  ring.trim(2)
  expect(ring.after(0).map(({ seq }) => seq)).toEqual([3, 4, 5])
  expect(ring.after(3, 1).map(({ seq }) => seq)).toEqual([4])
  expect([ring.floor, ring.at(3)?.seq, ring.at(2)]).toEqual([2, 3, undefined])
})

test('a row is rewritten by later events, unless it is of a newer event already', () => {
  const ring = ringOf(row(1), row(2, 9), row(3))
  ring.rewrite(row(3), rewritten)
  expect(texts(ring)).toEqual(['rewritten', 'as it is', 'as it is'])
  expect(ring.after(0).map(({ applied_seq }) => applied_seq)).toEqual([3, 9, 3])
  ring.rewrite(row(2), () => ({ ...row(1), body: { text: 'older' } }))
  expect(texts(ring)).toEqual(['rewritten', 'as it is', 'as it is'])
})

test('a key is removed together with its row', () => {
  const ring = ringOf(row(1), row(2))
  ring.trim(1)
  expect([ring.find('ada\nc1'), ring.find('ada\nc2')?.seq]).toEqual([undefined, 2])
})
