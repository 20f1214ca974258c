// Modes: embedded
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setEmail } from '#server/domains/people/accounts/emails'
import { tiers } from '#server/kernel/limits'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { fakeChain } from '#server/ports/chain/fake'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { fakeIssues } from '#server/ports/issues/fake'
import { fakePrices } from '#server/ports/prices/fake'
import { fakePush } from '#server/ports/push/fake'
import { fakeVideo } from '#server/ports/video/fake'
import { fakeWeb } from '#server/ports/web/fake'
import { api } from '#shared/api/index'
import { operationsOf } from '#shared/kit/contract'
import { type Booted, boot } from '#test/support/boot'
import { frugalClient } from '#test/support/frugal-client'
import { hasJobsAtWork } from '#test/support/jobs-at-work'
import { personAt } from '#test/support/people'
import { type Called, callAs, everyCall, orderOf, type Stranger, strangersOf } from '#test/support/strangers'
import { times } from '#test/support/times'
import { wallet } from '#test/support/wallet'

/** At the rates that they are allowed, the calls of an operation cost at most so many times as much as those of one that is known to be cheap. */
const most = 25
const cheap = 'identity.session'
/** One call of those that few are allowed of counts as a quarter at least. */
const leastShare = 0.25
/** Tells everybody something, which admins alone may. */
const dear = ['broadcasts.send']
/** A process at rest takes less than this while it sleeps so long. */
const [restMicros, lookMilliseconds] = [1_000, 3]
/** Rest is measured in so many slices, and no work of before goes on for longer than this. */
const [slices, sliceMilliseconds, longestWorkMilliseconds] = [60, 25, 90_000]
/** The cheap operation is called so often in a row, after every so many others. */
const [inARow, between] = [10, 10]
/** Microseconds of a cheap call, and of a millisecond of rest. Beyond these a measurement is none. */
const plausible = { unit: [100, 20_000], rest: [0, 50] } as const
const holders = 5
const belongings = { channels: 70, silentChannels: 420, groups: 10 }
const conversations = 20
/** How often each of them calls what makes something before it is measured, and each operation while it is. */
const [before, measured] = [2, 1]

let server: Booted
let client: ReturnType<typeof frugalClient>
let all: Stranger[]
let boss: Stranger
/** Calls are counted anew in each; null while everything is prepared. */
let round: number | null = null
let paid = 0

beforeAll(async () => {
  server = await boot({
    nodes: 1,
    entry: 'in alpha',
    environment: { RATE_LIMIT_SCALE: '1', SUPER_ADMINS: wallet('boss').address, BETA: 'open', MODEL: 'scripted' },
    services: {
      video: fakeVideo(),
      issues: fakeIssues(),
      calendars: fakeCalendars(),
      prices: fakePrices(),
      push: fakePush(),
      web: fakeWeb(),
      facilitator: fakeFacilitator(),
      chains: new Map([1, 8453].map((id) => [id, fakeChain(id)])),
    },
    change: (platform) => ({
      ...platform,
      kv: {
        ...platform.kv,
        async slide(key, ...rest) {
          if (round === null) return { allowed: true, used: 0, freeAt: 0 }
          if (/^(limit|claim):/.test(key)) paid += 1
          return platform.kv.slide(`${round} ${key}`, ...rest)
        },
      },
    }),
  })
  client = frugalClient(server.url)
  const people = await Promise.all(times(holders, (at) => personAt(server.url, `holder ${at}`)))
  const others = await Promise.all(times(conversations, (at) => personAt(server.url, `other ${at}`)))
  const admin = await personAt(server.url, 'boss')
  const made = await strangersOf(people, others, belongings, admin)
  all = made.strangers
  boss = made.boss
  for (const { account } of [...all, boss]) await setEmail(account, `${account}@people.test`, Date.now())
  round = 0
})
afterAll(async () => {
  client.close()
  await server.close()
})

const call = (who: Stranger, called: Called) => callAs(who, called, client)
const callersOf = ({ operation }: Called) => (operation.access === 'admin' ? [boss] : all)

test('O04: no operation costs more than it declares, of five accounts at one address that are in five hundred rooms each', async () => {
  expect(new Set(everyCall.map(({ name }) => name)).size).toBe(operationsOf(api).length)
  for (const one of everyCall.filter((called) => orderOf(called) < 2)) {
    round = (round ?? 0) + 1
    for (const who of callersOf(one)) for (let nth = 0; nth < (orderOf(one) ? 1 : before); nth++) await call(who, one)
  }
  await expect
    .poll(hasJobsAtWork, { timeout: longestWorkMilliseconds, interval: 100, message: 'Jobs of before go on' })
    .toBe(false)
  const rest = await restOf()
  expectPlausible('A millisecond of rest', rest, plausible.rest)
  const units: number[] = []
  const told: (Called & { cost: number; statuses: number[] })[] = []
  for (const one of everyCall) {
    round = (round ?? 0) + 1
    const [costs, statuses] = [[] as number[], [] as number[]]
    const callers = callersOf(one)
    await quiet()
    for (const who of callers)
      for (let nth = 0; nth < (measured * holders) / callers.length; nth++) {
        const { micros, status } = await costOf(who, one)
        statuses.push(status)
        if (status !== 429) costs.push(micros)
      }
    if (told.length % between === 0 && orderOf(one) < 4) units.push(await unitOf())
    const share = tiers[one.operation.limit] / tiers.general
    told.push({ ...one, cost: median(costs) * Math.max(share, leastShare), statuses })
  }
  const unit = median(units)
  const good = new Set(told.flatMap(({ name, statuses }) => (statuses.includes(200) ? [name] : [])))
  console.log(
    `${good.size} of ${operationsOf(api).length} operations succeed; a cheap one takes ${Math.round(unit)} us, a millisecond of rest ${rest.toFixed(1)} us`,
  )
  if (process.env.PLAZA_CALL_COSTS)
    for (const { id, cost, statuses } of told.toSorted((one, other) => other.cost - one.cost))
      console.log('COST', (cost / unit).toFixed(1), id, ...new Set(statuses))
  expectPlausible('One cheap call', unit, plausible.unit)
  const tooDear = told.filter(({ name, cost }) => cost > most * unit && !dear.includes(name))
  expect(tooDear.map(({ id, cost }) => `${id}: ${(cost / unit).toFixed(1)}`)).toEqual([])
  expect(good.size / operationsOf(api).length).toBeGreaterThan(0.7)
})

/** Fails where a measurement is none, by which everything or nothing would be too dear. */
function expectPlausible(what: string, micros: number, [least, most]: readonly [number, number]): void {
  const isPlausible = micros >= least && micros <= most
  expect(isPlausible, `${what} was measured as ${micros} us: this run says nothing about costs`).toBe(true)
}

/** Resolves when what was begun before is done, or goes on for so long that it is a job of its own. */
async function quiet(): Promise<void> {
  for (let looks = 0; looks < 100; looks++) if ((await microsOf(() => sleep(lookMilliseconds))) < restMicros) return
}

/** Microseconds of a millisecond of rest: the median, as a job that is swept in one slice is no rest. */
async function restOf(): Promise<number> {
  await quiet()
  const rates: number[] = []
  for (let at = 0; at < slices; at++) {
    const began = performance.now()
    const micros = await microsOf(() => sleep(sliceMilliseconds))
    rates.push(micros / (performance.now() - began))
  }
  return median(rates)
}

/** Microseconds of the cheap operation: the median of many calls in a row. */
async function unitOf(): Promise<number> {
  const known = everyCall.find(({ name }) => name === cheap) as Called
  await quiet()
  const costs: number[] = []
  for (let nth = 0; nth < inARow; nth++) costs.push((await costOf(all[0] as Stranger, known)).micros)
  return median(costs)
}

/** Microseconds of the processor for each call that was paid for. */
async function costOf(who: Stranger, called: Called): Promise<{ micros: number; status: number }> {
  paid = 0
  let status = 0
  const micros = await microsOf(async () => {
    status = await call(who, called)
  })
  return { micros: micros / Math.max(1, paid), status }
}

/** Microseconds of the processor that the process takes in all, while this goes on. */
async function microsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(begun)
  return user + system
}

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0
