// Modes: embedded
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { StoredJobs } from '#server/kernel/store/model'
import { channelOf, type Person, personAt } from '#test/support/people'
import { openOnrampProvider, openPartner, openProofProvider, partnerRules } from '#test/support/providers'
import { seeded } from '#test/support/seeded'
import { wallet } from '#test/support/wallet'
import { type ChangedServer, openChangedServer, watchProcess } from './changed-server.ts'
import {
  encoderNames,
  encoderValues,
  inUrl,
  place,
  rawJson,
  restTargets,
  samples,
  socketTargets,
  spoil,
  type Target,
} from './generator.ts'
import { type Ack, jsonRequest, openWire, sendBytes, type Wire } from './wire.ts'

const seed = Number(process.env.HOSTILE_SEED ?? 20_261_121)
const each = Number(process.env.HOSTILE_VALUES_PER_FIELD ?? 3)
const hangMilliseconds = 5_000
const atOnce = 6

const admin = wallet('admin of the hostile server')
const watch = watchProcess()
const providers: { close(): Promise<void> }[] = []
let server: ChangedServer
let mallory: Person
let boss: Person
let candidates: Record<string, unknown>
const counts = { inputs: 0, refused: 0, accepted: 0, errorAcks: 0 }

beforeAll(async () => {
  const [proofs, partner, onramp] = await Promise.all([openProofProvider(), openPartner(), openOnrampProvider()])
  providers.push(proofs, partner, onramp)
  server = await openChangedServer({
    SUPER_ADMINS: admin.address,
    WORLDID_BASE_URL: proofs.url,
    WORLDID_APP_ID: 'app_hostile',
    PARTNER_JWKS: JSON.stringify(partner.jwks()),
    ...partnerRules,
    ONRAMP_URL: onramp.url,
    ONRAMP_KEY: 'hostile',
  })
  boss = await personAt(server.url, 'admin of the hostile server')
  mallory = await personAt(server.url, 'mallory')
  const bystander = await personAt(server.url, 'bystander')
  const channel = (await channelOf(boss)).id
  for (const one of [mallory, bystander]) await one.rest(`POST /api/channels/${channel}/join`, {})
  const sent = await mallory.rest(`POST /api/channels/${channel}/messages`, { content: 'hello' })
  const poll = await boss.rest(`POST /api/channels/${channel}/polls`, { question: 'Which?', options: ['a', 'b'] })
  const room = { type: 'channel', id: channel }
  candidates = {
    room,
    id: channel,
    address: bystander.account,
    messageId: z.object({ message: z.object({ id: z.string() }) }).parse(sent.body).message.id,
    pollId: z.object({ poll: z.object({ id: z.string() }) }).parse(poll.body).poll.id,
    chatType: 'channel',
    chatId: channel,
    conversationId: channel,
    username: 'hostile_name',
    search: 'ho',
    query: 'hello',
    word: 'zork',
    duration: '1h',
    emoji: '👍',
    version: 1,
    number: '1',
    title: 'A title',
    optionIndex: 1,
    limit: 5,
    on: true,
    text: 'hello there',
    url: 'https://example.com/a.png',
    at: '2026-11-21T12:00:00.000Z',
    key: 'client-key-1',
    options: ['one', 'two'],
    addresses: [bystander.account],
    mentions: [{ kind: 'user', id: bystander.account, start: 0, len: 5 }],
    attachments: [{ url: 'https://example.com/a.png' }],
    rules: { read_only: false },
    patch: { can_pin: true },
    caller: mallory.account,
    anything: {},
  }
})
afterAll(async () => {
  watch.stop()
  await server.close()
  for (const provider of providers) await provider.close()
})

/** Slow by design, or the end of the session that asks. */
const left = new Set(['wait'])
const untouched = new Set(['identity.logout'])

interface Trial {
  target: Target
  what: string
  input: Record<string, unknown>
}

function trialsOf(targets: readonly Target[]): Trial[] {
  const random = seeded(seed)
  return targets
    .filter(({ name }) => !untouched.has(name))
    .flatMap((target) =>
      samples(target.schema, candidates).flatMap((sample) => {
        const base = Object.fromEntries(Object.entries(sample).filter(([field]) => !left.has(field)))
        const spoilt = spoil(base, random, each)
        return [{ field: '-', kind: 'as it should be', input: base }, ...spoilt].map(({ field, kind, input }) => ({
          target,
          input,
          what: `${target.method} ${target.path}, ${field}: ${kind}`,
        }))
      }),
    )
}

/** Does the declared input refuse what the server will read of this request? */
function isRefusedBySchema({ target, input }: Trial): boolean {
  const { inPath } = place(target, input)
  const room = input.room as { type?: unknown; id?: unknown } | undefined
  const read = (name: string) =>
    name === 'room' ? (target.fixed ?? { type: inUrl(room?.type), id: inUrl(room?.id) }) : inUrl(input[name])
  const seen = { ...input, ...Object.fromEntries([...inPath].map((name) => [name, read(name)])) }
  return !target.schema.safeParse(JSON.parse(JSON.stringify(seen))).success
}

const Refusal = {
  text: z.looseObject({ error: z.string().min(1), code: z.string() }),
  coded: z.strictObject({
    success: z.literal(false),
    error: z.looseObject({ code: z.string(), message: z.string().min(1) }),
  }),
}
const innards = /\n\s+at |node_modules|\.[jt]s:\d|Mongo|mongoose|E11000|lmdb|mingo|SyntaxError|TypeError|RangeError/

/** What is wrong with an answer; null where it is as documented. */
async function complaintOf(trial: Trial, who: Person, mustRefuse: boolean, isRepeated = false): Promise<string | null> {
  const { target, input, what } = trial
  const { path, body } = place(target, input)
  const started = performance.now()
  const answer = await fetch(server.url + path, {
    method: target.method,
    headers: {
      authorization: `Bearer ${who.token}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === null ? {} : { body: rawJson(body) }),
  })
  const text = target.operation.stream && answer.status === 200 ? await begunBy(answer) : await answer.text()
  const took = performance.now() - started
  counts.inputs++
  const says = (fault: string) => `${what}: ${fault} (${answer.status} ${text.slice(0, 200)})`
  if (took > hangMilliseconds) {
    if (isRepeated) return says(`took ${Math.round(took)} ms twice`)
    return complaintOf(trial, who, mustRefuse, true)
  }
  const hasNoChain = isForNoChain(answer.status, text)
  const isAnswer = answer.status === 200 || (answer.status >= 400 && answer.status <= 499) || hasNoChain
  if (!isAnswer) return says('no 200 and no 4xx')
  if (answer.headers.get('x-content-type-options') !== 'nosniff') return says('no nosniff')
  if (answer.status === 200) {
    counts.accepted++
    return mustRefuse ? says('accepted what its schema refuses') : null
  }
  counts.refused++
  if (innards.test(text)) return says('tells of the inside')
  const parsed = Refusal[target.errorBody].safeParse(JSON.parse(text))
  if (!parsed.success) return says(`not a ${target.errorBody} body`)
  const code = 'code' in parsed.data ? parsed.data.code : (parsed.data.error as { code: string }).code
  return (target.codes as readonly string[]).includes(String(code)) ? null : says('an undeclared code')
}

/** An answer that goes on has been given when it begins. */
async function begunBy({ body }: Response): Promise<string> {
  await body?.cancel()
  return ''
}

async function runAll<Item>(items: readonly Item[], run: (item: Item) => Promise<string | null>): Promise<string[]> {
  const complaints: string[] = []
  let next = 0
  const lane = async () => {
    while (next < items.length) {
      const item = items[next++]
      const complaint = item === undefined ? null : await run(item)
      if (complaint !== null) complaints.push(complaint)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return complaints
}

/** Everything stored, but for the audit log of refusals, the nodes' own notes, and when somebody was last seen. */
async function stored(): Promise<Record<string, string>> {
  const kept = Object.entries(mongoose.models).filter(
    ([name]) => !['AuditLines', 'RoomLeases', 'RoomHeads', 'Nonces', 'Nodes'].includes(name),
  )
  const read = kept.map(async ([name, model]) => {
    const rows = await model.find({}, { last_active_at: 0, last_used_at: 0 }).sort({ _id: 1 }).lean()
    return [name, `${rows.length} ${createHash('sha256').update(JSON.stringify(rows)).digest('hex')}`] as const
  })
  return Object.fromEntries(await Promise.all(read))
}

/** Does a job run, or is one due? An export that an accepted input began goes on after its answer. */
async function hasJobsAtWork(): Promise<boolean> {
  const due = { due_at: { $lte: new Date() } }
  return (await StoredJobs.countDocuments({ state: 'open', $or: [due, { run: { $ne: null } }] })) > 0
}

/** What is stored when what went before has been written: a socket that closed is noted a moment later. */
async function settled(): Promise<Record<string, string>> {
  let last = await stored()
  await expect
    .poll(
      async () => {
        const isAtWork = await hasJobsAtWork()
        const [earlier, now] = [last, await stored()]
        last = now
        return !isAtWork && isDeepStrictEqual(earlier, now)
      },
      { timeout: 60_000, interval: 250 },
    )
    .toBe(true)
  return last
}

const callerOf = ({ target }: Trial) => (target.operation.access === 'admin' ? boss : mallory)

describe(`spoilt inputs over REST, seed ${seed}`, () => {
  test('what a schema refuses is refused, and leaves no trace', async () => {
    const trials = trialsOf(restTargets).filter((trial) => trial.target.method !== 'GET' && isRefusedBySchema(trial))
    expect(trials.length).toBeGreaterThan(500)
    const before = await settled()
    expect(await runAll(trials, (trial) => complaintOf(trial, callerOf(trial), true))).toEqual([])
    expect(await stored()).toEqual(before)
  }, 300_000)

  test('reads with malformed queries and paths are answered or refused', async () => {
    const trials = trialsOf(restTargets.filter(({ method }) => method === 'GET'))
    // The address of a smart account is worked out when it is first asked for, and kept.
    // So are the codes by which somebody invites others.
    for (const path of ['GET /api/wallet/smart-wallet', 'GET /api/invites'])
      for (const person of [mallory, boss]) await person.rest(path)
    const before = await settled()
    expect(await runAll(trials, (trial) => complaintOf(trial, callerOf(trial), false))).toEqual([])
    expect(await stored()).toEqual(before)
  }, 300_000)
})

describe('spoilt inputs over sockets', () => {
  test('every event answers every spoilt field with an acknowledgement', async () => {
    const wires = new Map<string, Wire>()
    for (const { namespace } of socketTargets)
      if (!wires.has(namespace)) wires.set(namespace, await openWire(server.url, namespace, { token: mallory.token }))
    const random = seeded(seed + 1)
    const trials = socketTargets.flatMap((target) =>
      samples(target.operation.input, candidates).flatMap((sample) => {
        const base = Object.fromEntries(Object.entries(sample).filter(([field]) => !left.has(field)))
        return spoil(base, random, each).map((one) => ({ target, ...one }))
      }),
    )
    expect(trials.length).toBeGreaterThan(300)
    const complaints = await runAll(trials, async ({ target, field, kind, input }) => {
      const ack = await wires.get(target.namespace)?.ask(target.event, JSON.stringify(input))
      const fault = ackFault(ack ?? null, target.codes)
      return fault === null
        ? null
        : `${target.event}, ${field}: ${kind}: ${fault} ${JSON.stringify(ack)?.slice(0, 300)}`
    })
    expect(complaints).toEqual([])
    for (const wire of wires.values()) wire.close()
  }, 300_000)
})

describe('M19: every operation refuses input that is no JSON object, and does nothing', () => {
  const bodies = ['null', '[]', '[{}]', '7', '"text"', 'true']
  const codeIn = (body: string) => {
    const { code, error } = JSON.parse(body) as { code?: string; error?: string | { code?: string } }
    return typeof error === 'object' ? error.code : code
  }

  test('over REST, on every path', async () => {
    const trials = restTargets.flatMap((target) => {
      const [sample = {}] = samples(target.schema, candidates)
      const { path } = place({ ...target, method: 'POST' }, sample)
      return bodies.map((body) => ({ line: `${target.method} ${path}`, body, code: '400 VALIDATION_ERROR' }))
    })
    expect(trials.length).toBeGreaterThan(bodies.length * 100)
    const before = await settled()
    const complaints = await runAll(trials, async ({ line, body, code }) => {
      const answer = await sendBytes(server.url, jsonRequest(line, boss.token, body))
      const told = `${answer.status} ${codeIn(answer.body)}`
      return told === code ? null : `${line} ${body}: ${told}`
    })
    expect(complaints).toEqual([])
    expect(await stored()).toEqual(before)
  }, 300_000)

  test('over sockets, with every event', async () => {
    const wires = new Map<string, Wire>()
    for (const { namespace } of socketTargets)
      if (!wires.has(namespace)) wires.set(namespace, await openWire(server.url, namespace, { token: boss.token }))
    const before = await settled()
    const trials = socketTargets.flatMap((target) => bodies.map((body) => ({ target, body })))
    const complaints = await runAll(trials, async ({ target, body }) => {
      const ack = await wires.get(target.namespace)?.ask(target.event, body)
      const told = ack?.ok === false ? `${ack.error?.status} ${ack.error?.code}` : JSON.stringify(ack)
      return told === '400 VALIDATION_ERROR' ? null : `${target.event} ${body}: ${told}`
    })
    expect(complaints).toEqual([])
    expect(await stored()).toEqual(before)
    for (const wire of wires.values()) wire.close()
  }, 300_000)
})

/** No chain is configured here: what needs one says so. */
const isForNoChain = (status: number, text: string) =>
  status === 503 && text.includes('No chain can be asked: RPC_URL_')

function ackFault(ack: Ack | null, codes: readonly string[]): string | null {
  counts.inputs++
  if (ack === null) return 'no acknowledgement'
  if (ack.ok) {
    counts.accepted++
    return null
  }
  counts.errorAcks++
  const { code, message, status } = ack.error ?? { code: '', message: '', status: 0 }
  if (!codes.includes(code)) return 'an undeclared code'
  if (isForNoChain(status, message)) return null
  if (status < 400 || status > 499) return 'no 4xx'
  return innards.test(message) ? 'tells of the inside' : null
}

describe('spoilt inputs that a schema takes', () => {
  test('writes do what they say or refuse', async () => {
    const trials = trialsOf(restTargets).filter((trial) => trial.target.method !== 'GET' && !isRefusedBySchema(trial))
    const complaints = await runAll(trials, async (trial) => complaintOf(trial, callerOf(trial), false))
    expect(complaints).toEqual([])
  }, 300_000)
})

const acts = /^(messages|rooms|moderation|social|polls)\./
/** These leave less for the others to act upon. */
const ends = /remove|archive|leave|kick|block|mute|act$|decide/
const atEach = 6

/** Every text of an encoder in every field that takes a text, and of the other values some in each field and each in some. */
function encoderTrials<T extends { name: string }>(targets: readonly T[], schemaOf: (target: T) => z.ZodType) {
  let turn = 0
  return targets
    .filter(({ name }) => acts.test(name))
    .toSorted((one, other) => Number(ends.test(one.name)) - Number(ends.test(other.name)))
    .flatMap((target) => samples(schemaOf(target), candidates).map((sample) => ({ target, sample })))
    .flatMap(({ target, sample }) =>
      Object.keys(sample)
        .filter((field) => !left.has(field))
        .flatMap((field) => {
          const texts = typeof sample[field] === 'string' ? encoderNames : []
          const others = Array.from({ length: atEach }, () => encoderValues[turn++ % encoderValues.length])
          return [...texts, ...others].map((value) => ({
            target,
            input: { ...sample, [field]: value },
            what: `${target.name}, ${field}: ${JSON.stringify(value).slice(0, 60)}`,
          }))
        }),
    )
}

describe('M41: what an encoder of a store refuses is refused alone', () => {
  async function goesOn(): Promise<void> {
    const sent = await boss.rest(`POST /api/channels/${candidates.id}/messages`, { content: 'still here' })
    expect(sent.status).toBe(200)
  }

  test('over REST, in every field of every act, and its room goes on', async () => {
    const own = restTargets.filter(({ method, path, operation }) => method !== 'GET' && operation.http?.includes(path))
    const trials = encoderTrials(own, ({ schema }) => schema)
    expect(trials.length).toBeGreaterThan(500)
    expect(await runAll(trials, (trial) => complaintOf(trial, callerOf(trial), false))).toEqual([])
    await goesOn()
  }, 120_000)

  test('over sockets, in every field of every act, and its room goes on', async () => {
    const wire = await openWire(server.url, '/rooms', { token: boss.token })
    const own = socketTargets.filter(({ namespace }) => namespace === '/rooms')
    const trials = encoderTrials(own, ({ operation }) => operation.input)
    expect(trials.length).toBeGreaterThan(500)
    const complaints = await runAll(trials, async ({ target, what, input }) => {
      const ack = await wire.ask(target.event, rawJson(input))
      const fault = ackFault(ack, target.codes)
      return fault === null ? null : `${what}: ${fault} ${JSON.stringify(ack)?.slice(0, 300)}`
    })
    expect(complaints).toEqual([])
    wire.close()
    await goesOn()
  }, 120_000)
})

test('the process is whole, and so is the service', async () => {
  const fresh = await personAt(server.url, 'late comer')
  expect((await fresh.rest('GET /api/auth/session')).status).toBe(200)
  expect(watch.faults).toEqual([])
  expect(({} as Record<string, unknown>).x).toBeUndefined()
  expect(watch.stall()).toBeLessThan(20_000)
  console.log(
    `inputs sent ${counts.inputs} | 4xx ${counts.refused} | error acks ${counts.errorAcks} | taken ${counts.accepted}`,
  )
})
