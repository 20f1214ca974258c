import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { frugalClient } from '#test/support/frugal-client'
import { channelOf, eventOf, type Person, personAt, personWith } from '#test/support/people'
import { type Called, callAs, everyCall, orderOf, type Stranger, strangersOf } from '#test/support/strangers'
import { times } from '#test/support/times'
import { directoryOfRun, startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { writersIn } from './writers.ts'

const setting = { nodes: 1, store: 'embedded' }
const [writers, accounts, friends] = [12, 5, 20]
/** Calls at once of each account. */
const atOnce = 5
/** An account that is refused leaves that operation for so long. */
const restMilliseconds = 20_000
const lookMilliseconds = 50
const mostMilliseconds = 250
/** Budgets are whole again after a minute without calls. */
const pauseSeconds = 60

interface Size {
  rooms: number
  seconds: number
}

/**
 * Twelve people write, and five accounts at one address call every operation, and then every list, twenty-five calls at once and as often
 * as they may. Measures how long the writers wait for their acks; the run fails where that is too long.
 */
export async function measureStrangers(report: Report, { rooms, seconds }: Size): Promise<void> {
  const directory = directoryOfRun()
  try {
    const { members, strangers, roomId } = await prepare(directory, rooms)
    const { url } = await startPlaza({ directory, rateLimitScale: 1, livestreams: true })
    const written = writersIn(url, members, roomId)
    const callers = strangers.map((who): Stranger => ({ ...who, ...movedTo(url, who) }))
    // Calls use up what the address has for handshakes, too.
    for (const who of callers) await Promise.allSettled(namespaces.map((name) => who.line(name)))
    const lanes = callers.flatMap((who) => lanesOf(url, who))
    const tell = (what: string, { p50, p99 }: { p50: number; p99: number }) => {
      const name = `ack of ${writers} who write${what}`
      report.tell({ ...setting, name: `${name}, p50 ms`, value: p50, target: 50 })
      report.tell({ ...setting, name: `${name}, p99 ms`, value: p99, target: mostMilliseconds })
      if (p99 > mostMilliseconds) process.exitCode = 1
    }
    for (const [what, called, phaseSeconds] of [
      [` beside ${accounts} accounts that call everything`, callable, seconds],
      ['', [], Math.max(seconds, pauseSeconds)],
      [` beside ${accounts} accounts that call lists`, callable.filter(isList), seconds],
    ] as const) {
      const calls = called.map((one): Counted => ({ ...one, calls: 0, statuses: [] }))
      const calling = new AbortController()
      const running = lanes.map((call) => call(calls, calling.signal))
      const waited = await written.during(phaseSeconds * 1_000)
      calling.abort()
      await Promise.all(running)
      tell(what, waited)
      if (calls.length > 0) console.log(talliedOf(calls))
    }
    written.close()
  } finally {
    await stopAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Five accounts in so many rooms each, and twelve in one of those. */
async function prepare(directory: string, channels: number) {
  try {
    const { url } = await startPlaza({ directory })
    const peopleOf = (count: number, name: string) =>
      Promise.all(times(count, (at) => personAt(url, `bench ${name} ${at}`)))
    const [admin, ...members] = (await peopleOf(writers + 1, 'writer')) as [Person, ...Person[]]
    const people = await peopleOf(accounts, 'stranger')
    const others = await peopleOf(friends, 'friend')
    const busy = channels / 5
    const belongings = { channels: busy, silentChannels: channels - busy, groups: 10 }
    const { strangers } = await strangersOf(people, others, belongings, admin)
    const { id: roomId } = await channelOf(...(members as [Person, ...Person[]]), ...people)
    return { members, strangers, roomId }
  } finally {
    await stopAll()
  }
}

/** The same session, at a server that was started anew. */
const movedTo = (url: string, { account: address, token: sessionToken, refreshToken }: Person) =>
  personWith(url, { address, sessionToken, refreshToken })

/** A caller that has ended its session calls nothing any more. */
const callable = everyCall.filter((one) => orderOf(one) < 5)

const overSockets = callable.filter(({ target }) => target === null)
const namespaces = [...new Set(overSockets.map(({ operation }) => eventOf(operation).namespace))]

const isList = ({ target, operation: { cost, input } }: Called) =>
  target?.method === 'GET' && (cost !== 'cheap' || 'limit' in input.shape)

/** An operation, with how often it was called and what it answered. */
interface Counted extends Called {
  calls: number
  statuses: number[]
}

/** Several callers of one account, over a connection each, which call what was called least until the signal. */
function lanesOf(url: string, who: Stranger) {
  const restsUntil = new Map<Called, number>()
  const isFree = (called: Called) => (restsUntil.get(called) ?? 0) < performance.now()
  return times(atOnce, () => async (calls: readonly Counted[], signal: AbortSignal) => {
    const client = frugalClient(url)
    while (!signal.aborted) {
      const [next] = calls.filter(isFree).toSorted((one, other) => one.calls - other.calls)
      if (!next) {
        await sleep(lookMilliseconds)
        continue
      }
      next.calls += 1
      const status = await callAs(who, next, client).catch(() => 0)
      next.statuses.push(status)
      if (status !== 0 && status !== 429) continue
      next.calls -= 1
      restsUntil.set(next, performance.now() + restMilliseconds)
    }
    client.close()
  })
}

/** How much of these was called, and with which success. */
function talliedOf(calls: readonly Counted[]): string {
  const statuses = calls.flatMap((one) => one.statuses)
  const refused = statuses.filter((status) => status === 429).length
  const missed = calls.filter((one) => one.calls === 0).map(({ id }) => id)
  const good = calls.filter((one) => one.statuses.includes(200)).length
  return `${statuses.length} calls, ${refused} of them refused by a budget; of ${calls.length} operations ${good} succeeded, and ${missed.length} were refused alone: ${missed.join(', ')}`
}
