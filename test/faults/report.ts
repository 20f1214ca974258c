import { faultNames } from './checker.ts'
import type { Crowd } from './crowd.ts'
import type { Fault } from './faults.ts'
import type { Send } from './history.ts'
import type { Outcome } from './part.ts'
import { type Promised, promised } from './probe.ts'

/** The minimum that a run must have done for its result to count. */
export interface Least {
  acked: number
  injections: number
  flips: number
  /** Runs that ended with a whole answer, and payments that were charged. */
  answers: number
  charges: number
  /** Files that were stored, and answers to people who wanted to join by a token. */
  uploads: number
  entries: number
}

/** How long a run of a lost node may be without its end, while the other parts are up. */
const lostMilliseconds = 10_000

/** The factor by which a busy machine may exceed a deadline. */
const ceiling = 10

export interface Skipped {
  id: string
  what: string
  reason: string
}

export interface Report {
  seed: number
  injected: Record<string, number>
  skipped: readonly Skipped[]
  rows: readonly (readonly [name: string, value: string | number])[]
  failures: readonly string[]
}

export function reportOf(
  seed: number,
  outcomes: readonly Outcome[],
  {
    faults,
    skipped,
    unexpected,
    least,
    isWhole,
  }: {
    faults: readonly Fault[]
    skipped: readonly Skipped[]
    unexpected: readonly string[]
    least: Least
    isWhole: boolean
  },
): Report {
  const injected = injectedBy(outcomes, faults)
  const crowds = outcomes.flatMap(({ crowd }) => crowd ?? [])
  const sends = sendFigures(outcomes)
  const found = faultNames.map(
    (name) => [name, sum(outcomes, ({ findings }) => findings.filter(({ fault }) => fault === name).length)] as const,
  )
  const catchUps = crowds.flatMap(({ readers }) => readers.flatMap((reader) => reader.catchUps))
  const latencies = crowds.flatMap((crowd) => crowd.latencies)
  const unhandled = sum(outcomes, (outcome) => outcome.unhandled)
  const unforeseen = outcomes.flatMap((outcome) => outcome.unforeseen)
  const crashes = outcomes.flatMap((outcome) => outcome.crashes)
  const kept = (Object.keys(promised) as Promised[]).map((id) => ({
    id,
    ...promised[id],
    longest: longest(crowds.flatMap(({ world }) => world.probe.waited[id])),
  }))
  const flips = sum(crowds, ({ world }) => world.corrupted?.flips ?? 0)
  const runs = outcomes.flatMap(({ answers }) => answers.runs)
  const whole = runs.filter(({ state }) => state === 'done').length
  const charges = sum(outcomes, ({ charged }) => charged.length)
  const lost = longest(
    crowds.flatMap(({ askers, world }) => [...askers, world.provoker].flatMap((one) => one.lostMilliseconds)),
  )
  const of = (op: 'upload' | 'enter', ...types: readonly string[]) =>
    sum(
      outcomes,
      ({ history }) => history.entries.filter((entry) => entry.op === op && types.includes(entry.type)).length,
    )
  const [uploads, entries] = [of('upload', 'ok'), of('enter', 'ok', 'fail')]
  const told = outcomes.flatMap(({ history }) => history.entries.filter((entry) => entry.op === 'told'))
  const reconnects = crowds.flatMap(({ world }) => world.reconnectMilliseconds)
  return {
    seed,
    injected,
    skipped,
    rows: [
      ['messages sent', sends.sent],
      ['acked', sends.acked],
      ['answered as repeated', sends.repeated],
      ['refused', sends.refused],
      ['unknown', sends.unknown],
      ['unknown, later found stored', sends.unknownStored],
      ['answered 503, and carried out', sends.unavailableStored],
      ...found,
      [
        'shown to readers',
        sum(outcomes, (outcome) => outcome.history.entries.filter(({ op }) => op === 'recv').length),
      ],
      ['holes healed, frames dropped by clients', clientFigures(crowds)],
      ['catch-ups', catchUps.length],
      ['events of a catch-up, p50 / p99', spread(catchUps.map(({ events }) => events))],
      ['milliseconds of a catch-up, p50 / p99', spread(catchUps.map(({ milliseconds }) => milliseconds))],
      ['ack ms, p50 / p99 / max', `${spread(latencies)} / ${longest(latencies)}`],
      ...kept.map(
        ({ id, what, milliseconds, longest }) => [`${id} ${what}, longest ms of ${milliseconds}`, longest] as const,
      ),
      ['listeners back ms, max', Math.max(0, ...reconnects)],
      ['questions to agents, answered whole', `${runs.length}, ${whole}`],
      ['answers whose node was lost', runs.filter(({ error_code }) => error_code === 'RUN_LOST').length],
      [`their ends, longest calm ms of ${lostMilliseconds}`, Math.round(lost)],
      ['frames told', sum(told, ({ frames }) => frames.length)],
      ['payments charged, tries', `${charges}, ${sum(outcomes, payTries)}`],
      ['files stored, tries', `${uploads}, ${of('upload', 'invoke')}`],
      ['requests to the storage that it failed', sum(crowds, ({ world }) => world.cluster.services?.front.spoilt ?? 0)],
      ['joins by a token answered, without an answer', `${entries}, ${of('enter', 'info')}`],
      ['slow readers dropped', sum(crowds, ({ world }) => world.flood?.dropped ?? 0)],
      ['letters promised', sum(crowds, ({ world }) => world.cluster.letters?.promised ?? 0)],
      ['bits flipped', flips],
      ['crashes', crashes.length],
      ['unhandled rejections', unhandled],
      ['errors nobody foresaw', unforeseen.length],
      ['max RSS, MB', Math.round(Math.max(...outcomes.map(({ figures }) => figures.maxRssBytes)) / 2 ** 20)],
      ['max loop lag p99, ms', Math.round(1_000 * Math.max(...outcomes.map(({ figures }) => figures.maxLagSeconds)))],
    ],
    failures: [
      ...found.flatMap(([name, count]) => (count > 0 ? [`${name}: ${count}`] : [])),
      ...(unhandled > 0 ? [`unhandled: ${unhandled}`] : []),
      ...unforeseen.map((line) => `unforeseen: ${line.slice(0, 4_000)}`),
      ...crashes,
      ...unexpected,
      ...outcomes.flatMap(({ breaches }) => breaches),
      ...(isWhole && sends.acked < least.acked ? [`only ${sends.acked} acknowledged of at least ${least.acked}`] : []),
      ...(isWhole && whole < least.answers ? [`only ${whole} whole answers of at least ${least.answers}`] : []),
      ...(isWhole && charges < least.charges ? [`only ${charges} charged of at least ${least.charges}`] : []),
      ...(isWhole && uploads < least.uploads ? [`only ${uploads} stored of at least ${least.uploads}`] : []),
      ...(isWhole && entries < least.entries ? [`only ${entries} joins of at least ${least.entries}`] : []),
      ...(lost > ceiling * lostMilliseconds ? [`the end of an answer whose node was lost took ${lost} ms`] : []),
      ...kept.flatMap(({ id, what, milliseconds, longest }) => [
        ...(longest > ceiling * milliseconds ? [`${id}: ${what} took ${longest} ms`] : []),
        ...(isWhole && longest === 0 ? [`${id}: ${what} was not seen`] : []),
      ]),
      ...(isWhole && flips < least.flips ? [`only ${flips} bits flipped of at least ${least.flips}`] : []),
      ...Object.entries(injected).flatMap(([kind, count]) =>
        count < least.injections ? [`${kind} was injected ${count} times of at least ${least.injections}`] : [],
      ),
    ],
  }
}

/** The table, and as its last line the verdict. */
export function print({ seed, injected, skipped, rows, failures }: Report, outcomes: readonly Outcome[]): void {
  const lines = [...Object.entries(injected), ...rows]
  const width = Math.max(...lines.map(([name]) => name.length))
  console.log(`\n| ${'faults injected'.padEnd(width)} | times |\n| ${'-'.repeat(width)} | ----- |`)
  for (const [name, count] of Object.entries(injected)) console.log(`| ${name.padEnd(width)} | ${count} |`)
  for (const { id, what, reason } of skipped) console.log(`| ${`${id} ${what}`.padEnd(width)} | skipped: ${reason} |`)
  console.log(`\n| ${'figure'.padEnd(width)} | value |\n| ${'-'.repeat(width)} | ----- |`)
  for (const [name, value] of rows) console.log(`| ${name.padEnd(width)} | ${value} |`)
  console.log(`| ${'seed'.padEnd(width)} | ${seed} |\n`)
  for (const { name, findings } of outcomes)
    for (const { fault, room, what } of findings.slice(0, 20)) console.log(`${name}, ${room}: ${fault}: ${what}`)
  for (const failure of failures) console.log(`Failed: ${failure}`)
  const skips = `${skipped.length} kinds skipped`
  console.log(
    failures.length === 0 ? `Verdict: held; seed ${seed}, ${skips}.` : `Verdict: BROKEN; seed ${seed}, ${skips}.`,
  )
}

function injectedBy(outcomes: readonly Outcome[], faults: readonly Fault[]): Record<string, number> {
  const named = new Map<string, string>([
    ['F13', 'acts of two moderators'],
    ...faults.map(({ id, what }) => [id, what] as const),
  ])
  const counted = [...named].map(([id, what]) => [`${id} ${what}`, sum(outcomes, ({ counts }) => counts.get(id) ?? 0)])
  return Object.fromEntries(counted.sort())
}

function sendFigures(outcomes: readonly Outcome[]) {
  const last = new Map<string, Sending>()
  const stored = new Set<string>()
  for (const [at, { history, logs }] of outcomes.entries()) {
    for (const entry of history.entries) {
      if (entry.op !== 'send') continue
      const key = `${at} ${entry.room} ${entry.account} ${entry.cid}`
      const before = last.get(key)
      const wasUnknown = before?.wasUnknown === true || entry.type === 'info'
      const isOther = entry.type === 'info' && entry.code !== 'SERVICE_UNAVAILABLE'
      last.set(key, { is: entry, wasUnknown, wasOther: before?.wasOther === true || isOther })
    }
    for (const [room, log] of logs) for (const { sender, cid } of log) stored.add(`${at} ${room} ${sender} ${cid}`)
  }
  const all = [...last]
  const count = (fits: (sending: Sending, key: string) => boolean) =>
    all.filter(([key, sending]) => fits(sending, key)).length
  return {
    sent: all.length,
    acked: count(({ is }) => is.type === 'ok'),
    repeated: count(({ is }) => is.duplicate === true),
    refused: count(({ is }) => is.type === 'fail'),
    unknown: count(({ wasUnknown }) => wasUnknown),
    unknownStored: count(({ wasUnknown }, key) => wasUnknown && stored.has(key)),
    /** Each try before the one that was acknowledged was answered 503, so that one of these has stored it. */
    unavailableStored: count(({ is, wasUnknown, wasOther }) => is.duplicate === true && wasUnknown && !wasOther),
  }
}

/** The tries of one message: its last entry, whether the end of some try was not known, and whether one of these was not answered 503. */
interface Sending {
  is: Send
  wasUnknown: boolean
  wasOther: boolean
}

const payTries = ({ history }: Outcome) =>
  history.entries.filter((entry) => entry.op === 'pay' && entry.type === 'invoke').length

function clientFigures(crowds: readonly Crowd[]): string {
  const readers = crowds.flatMap((crowd) => crowd.readers)
  return `${sum(readers, ({ holes }) => holes)}, ${sum(readers, ({ dropped }) => dropped)}`
}

const longest = (milliseconds: readonly number[]) =>
  Math.round(milliseconds.reduce((most, one) => Math.max(most, one), 0))

function spread(values: readonly number[]): string {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return `${at(0.5)} / ${at(0.99)}`
}

const sum = <T>(list: readonly T[], of: (one: T) => number) => list.reduce((total, one) => total + of(one), 0)
