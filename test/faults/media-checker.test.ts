import { expect, test } from 'vitest'
import type { FaultName } from './checker.ts'
import type { Entered, Entry, Uploaded } from './history.ts'
import { checkMedia } from './media-checker.ts'

const about = { t: 0, proc: 'ann', room: '' } as const
const url = (key: string) => `http://localhost/files/${key}`
const uploaded = (type: Uploaded['type'], more: Partial<Uploaded> = {}): Uploaded => ({
  ...{ ...about, op: 'upload', type, key: 'one', bytes: 3, sha256: 'abc', ...more },
})
const entered = (type: Entered['type'], isHolder: boolean): Entered => ({
  ...{ ...about, op: 'enter', type, isHolder, account: isHolder ? 'hal' : 'eve', channel: 'c', outcome: '' },
})

/** An upload that a message names, a holder who came in and an outsider who did not. */
function goodOutcome() {
  const history: Entry[] = [
    uploaded('invoke'),
    uploaded('info', { outcome: '502 UPSTREAM_ERROR' }),
    uploaded('invoke'),
    uploaded('ok', { url: url('a/1') }),
    { ...about, op: 'name', type: 'ok', url: url('a/1') },
    entered('info', true),
    entered('ok', true),
    entered('info', false),
    entered('fail', false),
    { ...about, op: 'scan', type: 'ok', account: 'hal', isHolder: true, events: [1, 2] },
    { ...about, op: 'scan', type: 'ok', account: 'eve', isHolder: false, events: [] },
  ]
  return {
    history,
    blobs: new Map([['a/1', { sha256: 'abc' }]]),
    records: new Map([['a/1', { sha256: 'abc', isStored: true }]]),
    texts: [`[ENC_IMAGE:image/png]${url('a/1')}`],
    members: new Map([['c', new Set(['hal'])]]),
    events: [1, 2],
  }
}
type Outcome = ReturnType<typeof goodOutcome>
const found = ({ history, ...media }: Outcome) => new Set(checkMedia(history, media).map(({ fault }) => fault))

const planted: readonly (readonly [what: string, fault: FaultName, plant: (outcome: Outcome) => unknown])[] = [
  ['a file that was acknowledged and is not there', 'lost', ({ blobs }) => blobs.clear()],
  ['half a file', 'contradicted', ({ blobs }) => blobs.set('a/1', { sha256: 'ab' })],
  [
    'a file that is not what its record says',
    'contradicted',
    ({ records }) => records.set('a/1', { sha256: 'abd', isStored: true }),
  ],
  ['an upload that is two files', 'duplicated', ({ history }) => history.push(uploaded('ok', { url: url('a/2') }))],
  ['an upload that is refused', 'wrongly refused', ({ history }) => history.push(uploaded('fail'))],
  [
    'a message with a file that is refused',
    'wrongly refused',
    ({ history }) => history.push({ ...about, op: 'name', type: 'fail', url: url('a/1') }),
  ],
  ['a message with a file that is not stored', 'lost', ({ texts }) => texts.pop()],
  ['a message that names nothing', 'missing', ({ texts }) => texts.push(url('a/9'))],
  ['a file without a record', 'unrecorded', ({ blobs }) => blobs.set('a/2', { sha256: 'abc' })],
  ['a record without a file', 'missing', ({ records }) => records.set('a/2', { sha256: 'abc', isStored: true })],
  ['somebody let in without a token', 'wrongly accepted', ({ history }) => history.push(entered('ok', false))],
  ['a holder who is told to hold nothing', 'wrongly refused', ({ history }) => history.push(entered('fail', true))],
  ['a member without a token', 'leaked', ({ members }) => members.get('c')?.add('eve')],
  ['a holder who is kept out', 'missing', ({ members }) => members.get('c')?.delete('hal')],
  [
    'a failure that was kept for an answer',
    'contradicted',
    ({ history }) => history.push({ ...about, op: 'scan', type: 'ok', account: 'hal', isHolder: true, events: [] }),
  ],
]

test('the checker of media finds nothing where there are no faults', () =>
  expect(found(goodOutcome())).toEqual(new Set()))

test.each(planted)('the checker of media finds %s: %s', (_what, fault, plant) => {
  const outcome = goodOutcome()
  plant(outcome)
  expect(found(outcome)).toContain(fault)
})
