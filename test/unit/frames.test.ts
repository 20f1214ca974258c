import { expect, test } from 'vitest'
import { framesOf } from '#server/domains/rooms/messages/live'
import type { Row } from '#server/log/types'

const cut = (...targets: (string | null)[]) =>
  framesOf(
    targets.map((target, index) => ({ seq: index + 1, target }) as Row),
    ({ target }) => target,
  ).map(({ rows, removed }) => [rows.map(({ seq }) => seq), removed])

test.each<[string, (string | null)[], unknown[]]>([
  ['nothing', [], []],
  ['nobody taken out', [null, null, null], [[[1, 2, 3], null]]],
  ['somebody taken out by the last row', [null, 'ada'], [[[1, 2], 'ada']]],
  [
    'somebody taken out in the middle',
    [null, 'ada', null],
    [
      [[1, 2], 'ada'],
      [[3], null],
    ],
  ],
  [
    'one after another taken out',
    ['ada', 'bo', null],
    [
      [[1], 'ada'],
      [[2], 'bo'],
      [[3], null],
    ],
  ],
])('P9: a row that takes somebody out ends the frame: %s', (_, targets, frames) =>
  expect(cut(...targets)).toEqual(frames),
)
