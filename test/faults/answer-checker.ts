import { isTerminal } from '#shared/api/agents/run-frames'
import { type FaultName, type Finding, grouped } from './checker.ts'
import type { Asked, Entry, Paid, Recalled, Told } from './history.ts'
import type { Answers, StoredPayment, StoredRun } from './stored-answers.ts'

type Note = (fault: FaultName, what: string) => void

/** Checks what askers and payers were told against what is stored after all faults have ended. */
export function checkAnswers(
  history: readonly Entry[],
  { runs, payments, counts }: Answers,
  charged: readonly string[],
): Finding[] {
  const findings: Finding[] = []
  const noteOf =
    (room: string): Note =>
    (fault, what) =>
      void findings.push({ fault, room, what })
  const known = new Map(runs.map((run) => [run._id, run]))
  const of = <Op extends Entry['op']>(op: Op) =>
    history.filter((entry): entry is Extract<Entry, { op: Op }> => entry.op === op)
  for (const run of runs) checkRun(run, noteOf(`run ${run._id}`))
  checkKeys(of('ask'), known, noteOf('questions'))
  for (const [run, told] of grouped(of('told'), (entry) => entry.run))
    checkTold(told, known.get(run), noteOf(`run ${run}`))
  for (const { run, state } of of('stop'))
    if (state !== 'running' && known.get(run)?.state !== state)
      noteOf(`run ${run}`)('contradicted', `was stopped as ${state} and is ${known.get(run)?.state}`)
  for (const recalled of of('recall')) checkHistory(recalled, runs, noteOf(`agent ${recalled.agent}`))
  for (const { agent } of of('recall')) checkCount(agent, runs, counts, noteOf(`agent ${agent}`))
  checkPayments(of('pay'), payments, known, charged, noteOf)
  return findings
}

/** Checks that frames are numbered without a gap, that the last one alone ends the run, and that the record says what they say. */
function checkRun({ frames, state, content, error_code, message_id }: StoredRun, note: Note): void {
  for (const [at, { idx }] of frames.entries())
    if (idx !== at) note(idx > at ? 'gaps' : 'duplicated', `frame ${at} has idx ${idx}`)
  const ends = frames.filter(({ t }) => isTerminal({ t: t as 'done' }))
  if (ends.length > 1) note('duplicated', `has ${ends.length} ends`)
  const [end] = ends
  if (!end || state === 'running') {
    note('missing', `has no end, and is ${state}`)
    return
  }
  if (frames.at(-1) !== end) note('out of order', 'has frames after its end')
  const text = frames.map((frame) => frame.text).join('')
  const expected = end.t === 'done' ? 'done' : end.t === 'error' ? 'failed' : 'cancelled'
  if (state !== expected) note('unrecorded', `is ${state} and ended with ${end.t}`)
  if (content !== text) note('unrecorded', 'has another text than its frames')
  if (error_code !== end.code) note('unrecorded', `has the code ${error_code} and ended with ${end.code}`)
  const { partial_message_id, message = text } = JSON.parse(end.body) as Record<string, unknown>
  const isNamed = end.t === 'done' || partial_message_id === (text === '' ? null : message_id)
  if (message !== text || !isNamed) note('contradicted', 'its end says otherwise than its frames')
}

/** What the scripted model breaks off, or never ends. */
const spoilt = /^\/(break|fail|endless|stall)\b/

/** Checks that each question that was taken is one run, whichever of its tries was answered. */
function checkKeys(asked: readonly Asked[], runs: ReadonlyMap<string, StoredRun>, note: Note): void {
  const byKey = grouped(runs.values(), ({ account, client_run_id }) => `${account} ${client_run_id}`)
  for (const [key, tries] of grouped(asked, ({ account, key }) => `${account} ${key}`)) {
    const stored = byKey.get(key) ?? []
    if (stored.length > 1) note('duplicated', `${key} is ${stored.length} runs`)
    const [run] = stored
    const [first] = tries
    if (run?.state === 'done' && spoilt.test(run.message)) note('wrongly accepted', `${key} was answered by half`)
    if (run && (run.message !== first?.message || run.agent_id !== first.agent)) note('unexpected', `${key} is changed`)
    for (const { type, run: told, code } of tries) {
      if (type === 'ok' && !run) note('lost', `${key} was taken as ${told}, which is not stored`)
      if (type === 'ok' && run && run._id !== told)
        note('contradicted', `${key} was taken as ${told} and is ${run._id}`)
      if (type === 'fail') note('wrongly refused', `${key}: ${code}`)
    }
  }
}

/** Told before they are stored. */
const toldFirst = ['start', 'status', 'chunk']

/**
 * Checks that each reader was told what is stored, in order and without a gap. Of a run whose node was lost, they may have been told frames in
 * vain that its end stands in the place of; they are told it behind them.
 */
function checkTold(told: readonly Told[], run: StoredRun | undefined, note: Note): void {
  if (!run) note('lost', 'was told, and is not stored')
  const end = run?.frames.at(-1)
  const isCutBack =
    end !== undefined && (JSON.parse(end.body) as { message?: string }).message !== undefined && end.t === 'error'
  for (const { stream, frames } of told)
    for (const { idx, body } of frames) {
      const stored = run?.frames[idx]
      const isInVain = toldFirst.includes((JSON.parse(body) as { t?: string }).t ?? '')
      if (isCutBack && idx >= end.idx && (isInVain || body === end.body)) continue
      if (!stored) note('lost', `${stream} was told frame ${idx}, which is not stored`)
      else if (stored.body !== body) note('unexpected', `${stream} was told ${body} as frame ${idx}: ${stored.body}`)
    }
  for (const [stream, here] of grouped(told, (entry) => entry.stream)) checkStream(stream, here, note)
}

/** What comes by itself goes on where an answer on the same connection has ended. */
function checkStream(stream: string, told: readonly Told[], note: Note): void {
  const starts = new Set([0, ...told.flatMap(({ after }) => (after === null ? [] : [after + 1]))])
  const have = new Set(told.flatMap(({ frames }) => frames.map(({ idx }) => idx)))
  let last = -1
  for (const { after, frames } of told) {
    if (after !== null) {
      const isWhole = frames.every(({ idx }, at) => idx === after + 1 + at)
      if (!isWhole) note('gaps', `${stream} was given ${frames.map(({ idx }) => idx)} after ${after}`)
      continue
    }
    for (const { idx } of frames) {
      if (idx <= last) note('duplicated', `${stream} was told frame ${idx} after ${last}`)
      if (!starts.has(idx) && !have.has(idx - 1)) note('gaps', `${stream} was told frame ${idx} and not the one before`)
      last = idx
    }
  }
}

/** Checks that the history of an agent has both messages of each run, in order. */
function checkHistory({ account, agent, messages }: Recalled, runs: readonly StoredRun[], note: Note): void {
  const mine = runs.filter((run) => run.account === account && run.agent_id === agent)
  const expected = mine
    .toSorted((one, other) => (one._id < other._id ? -1 : 1))
    .flatMap(({ _id: run, message, content }) => [
      { run, role: 'user', content: message },
      { run, role: 'assistant', content },
    ])
  const kept = new Set(messages.map((message) => JSON.stringify(message)))
  for (const message of expected)
    if (!kept.has(JSON.stringify(message))) note('lost', `${JSON.stringify(message)} is not in the history`)
  if (messages.length > expected.length) note('duplicated', 'the history has more messages than were said')
  else if (JSON.stringify(messages) !== JSON.stringify(expected))
    note('out of order', 'the history is in another order')
}

/** Checks that answers are counted, and failures are not. */
function checkCount(agent: string, runs: readonly StoredRun[], counts: Answers['counts'], note: Note): void {
  const done = runs.filter(({ agent_id, state }) => agent_id === agent && state === 'done').length
  if (counts.get(agent) !== done) note('unrecorded', `shows ${counts.get(agent)} answers of ${done}`)
}

/** After so many answers that failed a payment is used up. */
const mostAnswers = 5

/** Checks that each payment is stored and charged once, and buys one answer. */
function checkPayments(
  paid: readonly Paid[],
  payments: readonly StoredPayment[],
  runs: ReadonlyMap<string, StoredRun>,
  charged: readonly string[],
  noteOf: (room: string) => Note,
): void {
  const stored = grouped(payments, ({ network, payer, nonce }) => `${network} ${payer} ${nonce}`)
  for (const [key, of] of stored) if (of.length > 1) noteOf(key)('duplicated', `is stored ${of.length} times`)
  const charges = grouped(charged, (nonce) => nonce.toLowerCase())
  for (const [nonce, of] of charges)
    if (of.length > 1) noteOf(`payment ${nonce}`)('duplicated', `was charged ${of.length} times`)
  const byNonce = new Map(payments.map((payment) => [payment.nonce, payment]))
  for (const nonce of charges.keys())
    if (!byNonce.has(nonce)) noteOf(`payment ${nonce}`)('lost', 'was charged, and is not stored')
  const answeredBy = grouped(runs.values(), ({ client_run_id }) => client_run_id.split(':')[0] ?? '')
  for (const payment of payments) {
    const note = noteOf(`payment ${payment.nonce}`)
    const isCharged = charges.has(payment.nonce)
    if (payment.state === 'unknown') note('missing', 'nobody has found out what came of it')
    if (payment.state === 'settled' && !isCharged) note('wrongly accepted', 'is settled, and was never charged')
    if (payment.state !== 'settled' && isCharged) note('lost', `was charged, and is ${payment.state}`)
    const done = (answeredBy.get(payment._id) ?? []).filter(({ state }) => state === 'done')
    if (done.length > 1) note('duplicated', `has bought ${done.length} answers`)
    const isUsedUp = payment.answers >= mostAnswers
    if (payment.state === 'settled' && done.length === 0 && !isUsedUp) note('missing', 'was paid and not answered')
    const [run] = done
    if (run && (payment.run_id !== run._id || payment.message_id !== run.message_id))
      note('unrecorded', 'does not name its answer')
  }
  for (const [nonce, tries] of grouped(paid, (one) => one.nonce)) {
    const payment = byNonce.get(nonce)
    const run = runs.get(payment?.run_id ?? '')
    const note = noteOf(`payment ${nonce}`)
    for (const { type, answer, outcome } of tries) {
      if (type === 'fail') note('wrongly refused', `${outcome}`)
      if (type !== 'ok') continue
      if (payment?.state !== 'settled') note('wrongly accepted', `was answered, and is ${payment?.state}`)
      else if (run?.content !== answer) note('contradicted', `was answered ${answer}, and its run says ${run?.content}`)
    }
  }
}
