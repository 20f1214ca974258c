// Modes: embedded
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { fakeChain } from '#server/ports/chain/fake'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { fakeIssues } from '#server/ports/issues/fake'
import { fakePrices } from '#server/ports/prices/fake'
import { fakePush } from '#server/ports/push/fake'
import { fakeVideo } from '#server/ports/video/fake'
import { fakeWeb } from '#server/ports/web/fake'
import { api } from '#shared/api/index'
import { rooms } from '#shared/api/rooms'
import { canonicalOperations } from '#shared/kit/canonical'
import { type Operation, operationsOf } from '#shared/kit/contract'
import { fileOf } from '#shared/kit/json-schema'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { examples, type Inputs, inputsOf } from '#test/support/inputs'
import { befriend, channelOf, groupOf, type Person, personAt, say } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { times } from '#test/support/times'
import { wallet } from '#test/support/wallet'
import { place, restTargets, samples, socketTargets, type Target } from './generator.ts'

/** A call, or what it pays for beyond itself, costs at most so many of a known cheap one. */
const most = 12
const cheap = 'identity.session'
const holders = 5
const [channels, groups, conversations] = [70, 10, 20]
/** How often each of them calls what makes something, before it is measured, and each operation while it is. */
const [before, measured] = [6, 3]

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0

interface Holder extends Person {
  inputs: Inputs
  room: { type: 'channel'; id: string }
}
interface Called {
  id: string
  name: string
  operation: Operation
  /** Null where it is open over a socket alone. */
  target: Target | null
}

let server: Booted
let all: Holder[]
let boss: Holder
/** Calls are counted anew in each. */
let round = 0
let isPrepared = false
let paid = 0

beforeAll(async () => {
  server = await boot({
    nodes: 1,
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
        async slide(key, limit, ...rest) {
          if (!isPrepared) return { allowed: true, used: 0, freeAt: 0 }
          if (/^(limit|claim):/.test(key)) paid += 1
          return platform.kv.slide(`${round} ${key}`, limit, ...rest)
        },
      },
    }),
  })
  await prepare()
  isPrepared = true
}, 120_000)
afterAll(() => server.close())

/** Five accounts, each in a hundred rooms, with friends and marks in each. */
async function prepare(): Promise<void> {
  const people = await Promise.all(times(holders, (at) => personAt(server.url, `holder ${at}`)))
  const others = await Promise.all(times(2 * conversations, (at) => personAt(server.url, `other ${at}`)))
  const owned = []
  for (const at of times(channels, (one) => one)) {
    const [owner, ...members] = times(holders, (one) => people[(at + one) % holders] as Person)
    const room = await channelOf(owner as Person, ...members, ...others.slice(0, 2))
    for (const who of people) {
      const { id: messageId } = await say(who, room, `Here is the word of ${who.account}`)
      const star = { messageId, messageType: 'channel', channelId: room.id }
      await who.rest('POST /api/messages/starred', star)
    }
    owned.push(room)
  }
  for (const at of times(groups, (one) => one)) await groupOf(people[at % holders] as Person, ...people.filter((_, one) => one !== at % holders))
  for (const [at, other] of others.entries())
    for (const who of people) {
      await befriend(who, other)
      if (at < conversations) await who.does('rest', rooms.openDm, { recipientAddress: other.account })
    }
  boss = await holderOf(await personAt(server.url, 'boss'), others[0] as Person, owned[0] as { id: string })
  all = await Promise.all(people.map((who, at) => holderOf(who, others[at] as Person, owned[at] as { id: string })))
}

async function holderOf(who: Person, other: Person, { id }: { id: string }): Promise<Holder> {
  const room = { type: 'channel', id } as const
  const asked = await who.rest(`POST /api/rooms/channel/${id}/polls`, { question: 'Which?', options: ['a', 'b'] })
  const { poll } = asked.body as { poll?: { id: string; message_id?: string } }
  const fields = {
    room,
    channelId: id,
    chatId: id,
    messageId: poll?.message_id,
    conversationId: dmOf(who.account, other.account).id,
    pollId: poll?.id,
  }
  return { ...who, room, inputs: inputsOf({ account: who.account, other: other.account, fields }) }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterAll(() => agent.destroy())

/** One request over a connection that stays; of a sequence its beginning. */
function send({ token }: Person, { method, operation }: Target, path: string, type: string, body: Buffer | null) {
  return new Promise<{ isGood: boolean; text: string; status: number }>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body ? { 'content-type': type, 'content-length': body.length } : {}),
    }
    const asked = request(server.url + path, { agent, method, headers }, (response) => {
      const parts: Buffer[] = []
      const { statusCode: status = 0 } = response
      const end = () => resolve({ isGood: status < 300, status, text: Buffer.concat(parts).toString() })
      response.on('end', end).on('error', end)
      response.on('data', (part: Buffer) => {
        parts.push(part)
        if (!operation.stream) return
        response.destroy()
        end()
      })
    })
    asked.on('error', reject).setTimeout(20_000, () => asked.destroy(new Error(`No answer: ${path}`)))
    asked.end(body ?? undefined)
  })
}

function bodyOf(operation: Operation, rest: Record<string, unknown> | null): [type: string, body: Buffer | null] {
  const { field } = fileOf(operation) ?? {}
  if (field === undefined || rest === null)
    return ['application/json', rest && Buffer.from(JSON.stringify(rest))]
  const fields = Object.entries(rest).map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const file = `--x\r\nContent-Disposition: form-data; name="${field}"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`
  return ['multipart/form-data; boundary=x', Buffer.concat([Buffer.from(fields.join('') + file), pngOf(), Buffer.from('\r\n--x--\r\n')])]
}

async function call(who: Holder, { id, name, operation, target }: Called) {
  const example = examples[id] ?? examples[name]
  const input = example
    ? who.inputs.of(name, operation, example.input)
    : (samples(operation.input, { room: who.room, id: who.room.id })[0] ?? {})
  if (!target) {
    const { namespace, event } = socketTargets.find((one) => one.name === name) ?? { namespace: '/rooms', event: '' }
    const answer = await who.ask(event, input, namespace)
    return { isGood: answer.ok, status: answer.ok ? 200 : answer.error.status }
  }
  const { path, body } = place(target, input)
  const { text, isGood, status } = await send(who, target, path, ...bodyOf(operation, body))
  if (isGood && !operation.stream) who.inputs.note(name.split('.')[0] ?? '', JSON.parse(text || '{}'))
  return { isGood, status }
}

/** These leave less for the others; the last of them the session of who calls. */
const ends = /remove|archive|leave|kick|forget|revoke|unlink|withdraw|decline|release|cancel|end$|erase|suspend|changeSetting|handOver/
const endsSessions = /^sessions\.end|^identity\.logout|^identity\.refresh/
const orderOf = ({ name, target }: Called) =>
  endsSessions.test(name) ? 3 : ends.test(name) ? 2 : target?.method === 'GET' ? 1 : 0

const spelled = canonicalOperations(api).map(({ id, name, operation, fixed }): Called => {
  const target = restTargets.find((one) => one.name === name && one.fixed?.type === fixed?.type)
  return { id, name, operation, target: target ?? null }
})
const overSockets = operationsOf(api).flatMap(({ name, operation }): Called[] =>
  spelled.some((one) => one.name === name) ? [] : [{ id: name, name, operation, target: null }],
)
const everything = [...spelled, ...overSockets].toSorted((one, other) => orderOf(one) - orderOf(other))

test('O04: no operation costs more than it declares, of five accounts at one address that are in a hundred rooms each', async () => {
  expect(new Set(everything.map(({ name }) => name)).size).toBe(operationsOf(api).length)
  const callersOf = ({ operation }: Called) => (operation.access === 'admin' ? [boss] : all)
  for (const one of everything.filter((called) => orderOf(called) < 2))
    for (const who of callersOf(one)) {
      round += 1
      for (let nth = 0; nth < (orderOf(one) === 0 ? before : 1); nth++) await call(who, one)
    }
  const reference: number[] = []
  const known = spelled.find(({ name }) => name === cheap)
  const costs = new Map<string, { micros: number[]; good: number; statuses: Set<number> }>()
  for (const one of everything) {
    const cost = { micros: [] as number[], good: 0, statuses: new Set<number>() }
    round += 1
    for (let nth = 0; nth < measured; nth++)
      for (const who of callersOf(one)) {
        if (known && orderOf(one) < 3) reference.push((await costOf(() => call(who, known))).micros)
        const { micros, answer } = await costOf(() => call(who, one))
        cost.statuses.add(answer.status)
        if (answer.isGood) cost.good += 1
        if (answer.status !== 429) cost.micros.push(micros)
      }
    costs.set(one.id, cost)
  }
  const unit = median(reference)
  const told = [...costs].map(([id, { micros, good, statuses }]) => ({ id, ratio: median(micros) / unit, good, statuses: [...statuses] }))
  const good = told.filter((one) => one.good > 0)
  console.log(`${told.length} operations, ${good.length} answered with success; a cheap call: ${Math.round(unit)} us`)
  if (process.env.PLAZA_CALL_COSTS)
    for (const { id, ratio, good, statuses } of told.toSorted((one, other) => other.ratio - one.ratio))
      console.log(`${ratio.toFixed(1)} ${id} ${good} ${statuses}`)
  expect(told.filter(({ ratio }) => ratio > most).map(({ id, ratio }) => `${id}: ${ratio.toFixed(1)}`)).toEqual([])
  expect(good.length / told.length).toBeGreaterThan(0.6)
})

/** Microseconds of the processor, by what the call has paid for. */
async function costOf<Answer>(work: () => Promise<Answer>): Promise<{ micros: number; answer: Answer }> {
  paid = 0
  const begun = process.cpuUsage()
  const answer = await work()
  const { user, system } = process.cpuUsage(begun)
  return { micros: (user + system) / Math.max(1, paid), answer }
}
