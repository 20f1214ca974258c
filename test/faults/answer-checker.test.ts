import { expect, test } from 'vitest'
import { checkAnswers } from './answer-checker.ts'
import type { FaultName } from './checker.ts'
import type { Asked, Entry, Paid, Told } from './history.ts'
import { type StoredPayment, type StoredRun, storedFrame } from './stored-answers.ts'

const chunk = { t: 'chunk', off: 0, text: 'Half' }
const frames = (...bodies: Parameters<typeof storedFrame>[1][]) => bodies.map((body, idx) => storedFrame(idx, body))
const done = (text: string) => ({ t: 'done', message: text, message_id: 'm' })
const broken = { t: 'error', code: 'RUN_LOST', partial_message_id: 'm' }

const storedRun = (_id: string, key: string, message: string): StoredRun => ({
  ...{ _id, client_run_id: key, message, agent_id: 'agent', account: 'ann', message_id: 'm' },
  ...{ state: 'done', content: 'Half', error_code: null, frames: frames({ t: 'start' }, chunk, done('Half')) },
})

/** Questions, answers and a payment without faults. */
function goodOutcome() {
  const whole = storedRun('1', 'k1', 'k1 asks')
  const lost: StoredRun = {
    ...storedRun('2', 'k2', '/break k2 asks'),
    ...{ state: 'failed', error_code: 'RUN_LOST', frames: frames({ t: 'start' }, chunk, broken) },
  }
  const sold: StoredRun = { ...storedRun('3', 'pay:1', 'paid'), agent_id: 'sold', account: 'public:/s' }
  const payment: StoredPayment = {
    ...{ _id: 'pay', network: 'base-sepolia', payer: 'bob', nonce: '0x1', state: 'settled', answers: 1 },
    ...{ run_id: '3', message_id: 'm' },
  }
  const asked = (type: Asked['type'], key: string, message: string, run?: string): Asked => ({
    ...{ t: 0, proc: 'ann', op: 'ask', room: '', account: 'ann', agent: 'agent', type, key, message },
    ...(run ? { run } : {}),
  })
  const told = (run: StoredRun, stream: string, after: number | null, ...idxs: number[]): Told => ({
    ...{ t: 0, proc: 'ann', op: 'told', room: '', type: 'ok', run: run._id, stream, after },
    frames: idxs.map((idx) => ({ idx, body: run.frames[idx]?.body ?? '' })),
  })
  const paid = (type: Paid['type'], more: Partial<Paid> = {}): Paid => ({
    ...{ t: 0, proc: 'bob', op: 'pay', room: '', type, payer: 'bob', nonce: '0x1', ...more },
  })
  const said = (run: string, role: string, content: string) => ({ run, role, content })
  const history: Entry[] = [
    asked('invoke', 'k1', 'k1 asks'),
    asked('info', 'k1', 'k1 asks'),
    asked('ok', 'k1', 'k1 asks', '1'),
    asked('ok', 'k2', '/break k2 asks', '2'),
    ...[0, 1, 2].map((idx) => told(whole, 'a-1', null, idx)),
    told(whole, 'lines', 0, 1, 2),
    told(lost, 'a-1', -1, 0, 1),
    told(lost, 'a-1', null, 2),
    { t: 0, proc: 'ann', op: 'stop', room: '', type: 'ok', run: '2', state: 'failed' },
    paid('invoke'),
    paid('info', { outcome: '202 PAYMENT_PENDING' }),
    paid('ok', { answer: 'Half' }),
    {
      ...{ t: 0, proc: 'ann', op: 'recall', room: '', type: 'ok', account: 'ann', agent: 'agent' },
      messages: [
        said('1', 'user', 'k1 asks'),
        said('1', 'assistant', 'Half'),
        said('2', 'user', '/break k2 asks'),
        said('2', 'assistant', 'Half'),
      ],
    },
  ]
  const counts = new Map([['agent', 1]])
  return {
    history,
    whole,
    lost,
    sold,
    runs: [whole, lost, sold],
    payment,
    payments: [payment],
    counts,
    charged: ['0x1'],
  }
}

type Outcome = ReturnType<typeof goodOutcome>
const found = ({ history, runs, payments, counts, charged }: Outcome) =>
  new Set(checkAnswers(history, { runs, payments, counts }, charged).map(({ fault }) => fault))
const of = <Op extends Entry['op']>({ history }: Outcome, op: Op) =>
  history.filter((entry): entry is Extract<Entry, { op: Op }> => entry.op === op)
/** The last entry of a kind, otherwise. */
const last = <Op extends Entry['op']>(outcome: Outcome, op: Op, change: Partial<Extract<Entry, { op: Op }>>) =>
  void Object.assign(of(outcome, op).at(-1) ?? {}, change)

const planted: readonly (readonly [what: string, fault: FaultName, plant: (outcome: Outcome) => unknown])[] = [
  ['a frame that is missing', 'gaps', ({ whole }) => Object.assign(whole, { frames: whole.frames.toSpliced(1, 1) })],
  [
    'a frame that is stored twice',
    'duplicated',
    ({ whole }) => Object.assign(whole, { frames: whole.frames.toSpliced(1, 0, ...whole.frames.slice(1, 2)) }),
  ],
  [
    'a second end',
    'duplicated',
    ({ lost }) => Object.assign(lost, { frames: [...lost.frames, storedFrame(3, broken)] }),
  ],
  [
    'a frame after the end',
    'out of order',
    ({ lost }) => Object.assign(lost, { frames: [...lost.frames, storedFrame(3, { t: 'status' })] }),
  ],
  ['no end', 'missing', ({ lost }) => Object.assign(lost, { frames: lost.frames.slice(0, 2) })],
  ['a run that is running for ever', 'missing', ({ lost }) => Object.assign(lost, { state: 'running' })],
  ['a run whose state is not its end', 'unrecorded', ({ lost }) => Object.assign(lost, { state: 'cancelled' })],
  ['a partial text that is not kept', 'unrecorded', ({ lost }) => Object.assign(lost, { content: '' })],
  ['another code', 'unrecorded', ({ lost }) => Object.assign(lost, { error_code: 'TIMEOUT' })],
  [
    'an end with another text',
    'contradicted',
    ({ whole }) => Object.assign(whole, { frames: [...whole.frames.slice(0, 2), storedFrame(2, done('Hal'))] }),
  ],
  [
    'an end that names no partial message',
    'contradicted',
    ({ lost }) =>
      Object.assign(lost, {
        frames: [...lost.frames.slice(0, 2), storedFrame(2, { ...broken, partial_message_id: null })],
      }),
  ],
  [
    'an answer that broke off and is done',
    'wrongly accepted',
    ({ whole }) => Object.assign(whole, { message: '/fail' }),
  ],
  ['a question that was taken and is not stored', 'lost', (outcome) => last(outcome, 'ask', { key: 'k3' })],
  ['an answer that was told and is not stored', 'lost', (outcome) => last(outcome, 'told', { run: '9', frames: [] })],
  ['a question that is two runs', 'duplicated', ({ runs, whole }) => runs.push({ ...whole, _id: '4' })],
  ['a repeated question that is another run', 'contradicted', (outcome) => last(outcome, 'ask', { run: '1' })],
  ['a question that is stored otherwise', 'unexpected', ({ whole }) => Object.assign(whole, { message: 'other' })],
  ['a question that is refused', 'wrongly refused', (outcome) => last(outcome, 'ask', { type: 'fail' })],
  [
    'a frame that was told and is not stored',
    'lost',
    (outcome) => last(outcome, 'told', { frames: [{ idx: 3, body: '{}' }] }),
  ],
  [
    'a frame that was told otherwise',
    'unexpected',
    (outcome) => last(outcome, 'told', { frames: [{ idx: 2, body: '{}' }] }),
  ],
  ['a frame told twice on a connection', 'duplicated', ({ history }) => history.splice(6, 0, ...history.slice(5, 6))],
  ['a frame not told on a connection', 'gaps', ({ history }) => history.splice(5, 1)],
  ['an answer to a resume with a gap', 'gaps', ({ history }) => Object.assign(history[8] ?? {}, { after: -2 })],
  ['a stop that was not carried out', 'contradicted', (outcome) => last(outcome, 'stop', { state: 'cancelled' })],
  ['a history without an answer', 'lost', (outcome) => void of(outcome, 'recall').map(({ messages }) => pop(messages))],
  [
    'a history in another order',
    'out of order',
    (outcome) => last(outcome, 'recall', { messages: of(outcome, 'recall')[0]?.messages.toReversed() ?? [] }),
  ],
  [
    'a history with a message twice',
    'duplicated',
    (outcome) =>
      last(outcome, 'recall', {
        messages: of(outcome, 'recall').flatMap(({ messages }) => [...messages, ...messages]),
      }),
  ],
  ['a failed answer that is counted', 'unrecorded', ({ counts }) => counts.set('agent', 2)],
  [
    'a payment that is stored twice',
    'duplicated',
    ({ payments, payment }) => payments.push({ ...payment, _id: 'two' }),
  ],
  ['a payment that is charged twice', 'duplicated', ({ charged }) => charged.push('0x1')],
  ['a charge for nothing', 'lost', ({ charged }) => charged.push('0x2')],
  [
    'a payment that nobody has found out about',
    'missing',
    ({ payment }) => Object.assign(payment, { state: 'unknown' }),
  ],
  [
    'a payment that was charged and is rejected',
    'lost',
    ({ payment }) => Object.assign(payment, { state: 'rejected' }),
  ],
  ['a settlement without a charge', 'wrongly accepted', ({ charged }) => charged.pop()],
  [
    'a payment that bought two answers',
    'duplicated',
    ({ runs, sold }) => runs.push({ ...sold, _id: '5', client_run_id: 'pay:2' }),
  ],
  [
    'a payment that was not answered',
    'missing',
    ({ sold }) => Object.assign(sold, { state: 'failed', frames: frames(chunk, broken), error_code: 'RUN_LOST' }),
  ],
  ['a receipt that names no message', 'unrecorded', ({ payment }) => Object.assign(payment, { message_id: null })],
  ['a good payment that is refused', 'wrongly refused', (outcome) => last(outcome, 'pay', { type: 'fail' })],
  [
    'an answer without a payment',
    'wrongly accepted',
    ({ payment, charged }) => {
      payment.state = 'rejected'
      charged.pop()
    },
  ],
  ['another answer the second time', 'contradicted', (outcome) => last(outcome, 'pay', { answer: 'Other' })],
]

test('the checker of answers finds nothing where there are no faults', () =>
  expect(found(goodOutcome())).toEqual(new Set()))

test('a reader may be told text in vain by a node that is lost, and is told the end behind it', () => {
  const ahead = () => {
    const outcome = goodOutcome()
    const { lost, history } = outcome
    const body = (frame: object) => storedFrame(0, frame as typeof chunk).body
    const end = { ...broken, message: 'Half' }
    Object.assign(lost, { frames: frames({ t: 'start' }, chunk, end) })
    const told = of(outcome, 'told').findLast(({ run }) => run === lost._id)
    const inVain = { idx: 2, body: body({ t: 'chunk', off: 4, text: ' and half' }) }
    history.push({ ...(told as Told), frames: [{ idx: 3, body: body(end) }] })
    Object.assign(told ?? {}, { frames: [inVain] })
    return { outcome, lost, inVain, body }
  }
  expect(found(ahead().outcome)).toEqual(new Set())
  const done = ahead()
  Object.assign(done.inVain, { body: done.body({ t: 'tool' }) })
  expect(found(done.outcome)).toContain('unexpected')
  const whole = ahead()
  Object.assign(whole.lost, { frames: frames({ t: 'start' }, chunk, broken) })
  expect(found(whole.outcome)).toContain('unexpected')
})

test.each(planted)('the checker of answers finds %s: %s', (_what, fault, plant) => {
  const outcome = goodOutcome()
  plant(outcome)
  expect(found(outcome)).toContain(fault)
})

test('a payment of which five answers failed is used up', () => {
  const outcome = goodOutcome()
  Object.assign(outcome.sold, { state: 'failed', frames: frames(chunk, broken), error_code: 'RUN_LOST' })
  outcome.payment.answers = 5
  outcome.history.splice(-2, 1)
  expect(found(outcome)).toEqual(new Set())
})

const pop = (list: readonly unknown[]) => void (list as unknown[]).pop()
