// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TokenDays } from '#server/domains/agents/agent-spending/model'
import { Runs } from '#server/domains/agents/runs/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { localEmbedder } from '#server/ports/model/local-embedder'
import type { Embedder, Model, Part, Question } from '#server/ports/model/port'
import { fakePlatformData } from '#server/ports/platform-data/fake'
import { fakeWeb } from '#server/ports/web/fake'
import { agents } from '#shared/api/agents/agents'
import { knowledge } from '#shared/api/agents/knowledge'
import { payments } from '#shared/api/payments/payments'
import { messages } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { askPublic, paymentOf } from '#test/support/payments'
import { channelOf, outcomeOf, over, type Person, person, say } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

const most = 5_000
const day = 86_400
const text = 'Sure. '.repeat(100)
const facilitator = fakeFacilitator()
/** What the model reports of each answer; null where it reports nothing. */
let reported: number | null
let parts: Part[]
let asked = 0
const questions: Question[] = []
let isFailing = false
let gate: Promise<void> | null = null
const model: Model = {
  name: 'meter',
  isScripted: false,
  async *answer(question) {
    asked++
    questions.push(structuredClone(question))
    await gate
    yield { type: 'text', text }
    if (isFailing) throw new AppError('UPSTREAM_ERROR')
    yield* parts
    yield { type: 'end', reason: 'stop', inputTokens: reported, outputTokens: reported === null ? null : 0 }
  },
}

/** What the embedder reports of each request. */
const embedded = 7
const local = localEmbedder()
const embedder: Embedder = {
  ...local,
  async embed(texts, signal, count = () => {}) {
    count(embedded)
    return local.embed(texts, signal)
  },
}
const web = fakeWeb()

let server: Booted
let admin: Person
let made = 0
beforeAll(async () => {
  server = await boot({
    environment: { BETA: 'open', ADMINS: wallet('admin').address, AGENT_DAILY_TOKENS: `${most}` },
    services: { model, embedder, web, facilitator, platformData: fakePlatformData({}) },
  })
  admin = await person(server, 'admin')
})
afterAll(() => server.close())
beforeEach(() => {
  Object.assign(facilitator, { charged: [], asked: { verify: 0, settle: 0 } })
  reported = 10
  parts = []
  asked = 0
  questions.length = 0
  isFailing = false
  gate = null
})

const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
async function fresh(more: object = {}) {
  const owner = await person(server, `owner ${++made}`)
  const { agent } = await owner.does('rest', agents.create, { name: `Meter ${made}`, visibility: 'public', ...more })
  return { owner, agent: agent.id }
}
const tokensOf = async (owner: Person) =>
  (await TokenDays.find({ _id: { $gte: owner.account, $lt: `${owner.account}!` } }).lean()).map(({ tokens }) => tokens)
/** An agent whose owner has nothing left today. */
async function spent(more: object = {}) {
  const { owner, agent } = await fresh(more)
  reported = most
  await owner.does('rest', agents.chat, { id: agent, message: 'All of it' })
  await expect.poll(() => tokensOf(owner)).toEqual([most])
  reported = 10
  asked = 0
  return { owner, agent }
}

/** Gives an agent a page that it knows, and returns its id. */
async function knows(owner: Person, agent: string, url: string): Promise<string> {
  web.pages.set(url, `<main><h1>Foxes</h1><p>${'A fox is red, and lives in the wood. '.repeat(20)}</p></main>`)
  const { item } = await owner.does('rest', knowledge.add, { id: agent, url })
  await owner.does('rest', knowledge.index, { id: agent, knowledgeId: item.id })
  return item.id
}

describe('T65: the tokens of an owner on a day', () => {
  test('count the vectors of what an agent knows, and those of questions', async () => {
    const { owner, agent } = await fresh({ useKnowledgeBase: true })
    await knows(owner, agent, `https://site.test/${agent}`)
    await expect.poll(() => tokensOf(owner)).toEqual([embedded])
    await owner.does('rest', agents.chat, { id: agent, message: 'What is a fox?' })
    await expect.poll(() => tokensOf(owner)).toEqual([2 * embedded + (reported ?? 0)])
  })

  test.each(over)('count what finding events takes, and end it with a refusal, over %s', async (door) => {
    const { owner, agent } = await fresh()
    await knows(owner, agent, `https://site.test/${agent}`)
    await expect.poll(() => tokensOf(owner)).toEqual([embedded])
    await admin.does(door, agents.extractEvents, { id: agent })
    await expect.poll(() => tokensOf(owner)).toEqual([embedded + (reported ?? 0)])
    reported = most
    await owner.does('rest', agents.chat, { id: agent, message: 'All of it' })
    await expect.poll(async () => ((await tokensOf(owner))[0] ?? 0) >= most).toBe(true)
    asked = 0
    expect(outcomeOf(await admin.tries(door, agents.extractEvents, { id: agent }))).toBe('429 DAILY_TOKENS_REACHED')
    expect(asked).toBe(0)
  })

  test('end with a refusal over both doors, for all agents of that owner, until the next day', async () => {
    const { owner, agent } = await spent()
    const other = await person(server, `asker ${made}`)
    const { agent: second } = await owner.does('rest', agents.create, { name: `Second ${made}`, visibility: 'public' })
    for (const who of [owner, other])
      for (const id of [agent, second.id]) {
        const question = { id, message: 'One more' }
        const refusals = [
          await who.refused('socket', agents.run, { agent_id: id, message: 'One more' }),
          await who.refused('rest', agents.chat, question),
        ]
        for (const { code, status, retryAfter } of refusals) {
          expect([status, code]).toEqual([429, 'DAILY_TOKENS_REACHED'])
          expect(retryAfter).toBeGreaterThan(0)
          expect(retryAfter).toBeLessThanOrEqual(day)
        }
        const streamed = await who.rest(`POST /api/agents/${id}/chat`, { message: 'One more', stream: true })
        expect(outcomeOf(streamed)).toBe('429 DAILY_TOKENS_REACHED')
      }
    expect(asked).toBe(0)
    const { agent: free } = await fresh()
    await other.does('rest', agents.chat, { id: free, message: 'And you?' })
    server.setAhead(day)
    await owner.does('rest', agents.chat, { id: agent, message: 'A new day' })
    server.setAhead(0)
  })

  test.each(over)('leave a question that was answered with its answer, over %s', async (door) => {
    const { owner, agent } = await fresh()
    const question = { message: 'Once', client_run_id: `once-${door}` }
    const first = await owner.does('socket', agents.run, { agent_id: agent, ...question })
    await expect.poll(() => tokensOf(owner)).toEqual([10])
    reported = most
    await owner.does('rest', agents.chat, { id: agent, message: 'All of it' })
    await expect.poll(async () => (await tokensOf(owner))[0]).toBeGreaterThanOrEqual(most)
    if (door === 'socket')
      expect(await owner.does(door, agents.run, { agent_id: agent, ...question })).toMatchObject(first)
    else expect((await owner.does(door, agents.chat, { id: agent, ...question })).run_id).toBe(first.run_id)
    expect(asked).toBe(2)
    const { owner: rich, agent: other } = await fresh()
    reported = 10
    const again = () =>
      door === 'socket'
        ? rich.does(door, agents.run, { agent_id: other, ...question })
        : rich.does(door, agents.chat, { id: other, ...question })
    await again()
    await expect.poll(() => tokensOf(rich)).toEqual([10])
    for (let time = 0; time < 3; time++) await again()
    await expect.poll(() => tokensOf(rich)).toEqual([10])
  })

  test(
    'are counted by the report of the model, else by the text, also of an answer that failed or was stopped',
    heavy,
    async () => {
      const { owner, agent } = await fresh()
      const grown = async (asking: () => Promise<unknown>) => {
        const before = (await tokensOf(owner))[0] ?? 0
        await asking()
        await expect.poll(async () => ((await tokensOf(owner))[0] ?? 0) - before).toBeLessThan(2_048)
        return ((await tokensOf(owner))[0] ?? 0) - before
      }
      const chat = () => owner.tries('rest', agents.chat, { id: agent, message: 'How much?' })
      expect(await grown(chat)).toBe(10)
      reported = null
      const byText = await grown(chat)
      expect(byText).toBeGreaterThan(text.length / 4)
      isFailing = true
      expect(await grown(chat)).toBeGreaterThan(text.length / 4)
      isFailing = false
      let open = () => {}
      gate = new Promise((resolve) => {
        open = resolve
      })
      const stopped = await grown(async () => {
        const { run_id } = await owner.does('socket', agents.run, { agent_id: agent, message: 'Never mind' })
        await expect.poll(() => asked).toBe(4)
        await owner.does('socket', agents.cancel, { run_id })
        open()
      })
      expect(stopped).toBeGreaterThan(10)
    },
  )

  test('are not exceeded by many questions at once', async () => {
    const { owner, agent } = await fresh()
    const ids = [agent]
    while (ids.length < 5) ids.push((await owner.does('rest', agents.create, { name: `Meter ${++made}` })).agent.id)
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const answers = ids.map((id) => owner.tries('rest', agents.chat, { id, message: 'At once' }))
    await expect.poll(() => Runs.countDocuments({ account: owner.account, state: 'failed' })).toBe(2)
    expect(asked).toBe(3)
    open()
    const given = await Promise.all(answers)
    expect(given.map(outcomeOf).sort()).toEqual([...Array(3).fill('200'), ...Array(2).fill('429 DAILY_TOKENS_REACHED')])
    for (const answer of given) if (!answer.ok) expect(answer.error.retryAfter).toBeGreaterThan(0)
    await expect.poll(() => tokensOf(owner)).toEqual([30])
  })

  test('are not set aside by questions that wait', async () => {
    const { owner, agent } = await fresh()
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    const runs: string[] = []
    for (let at = 0; at < 5; at++)
      runs.push((await owner.does('socket', agents.run, { agent_id: agent, message: `Question ${at}` })).run_id)
    await expect.poll(() => asked).toBe(1)
    expect(await tokensOf(owner)).toEqual([2_048])
    open()
    await expect.poll(() => Runs.countDocuments({ _id: { $in: runs }, state: 'done' })).toBe(5)
    await expect.poll(() => tokensOf(owner)).toEqual([50])
  })

  test('are taken by one stranger up to a tenth, over both doors; others and the owner ask on', async () => {
    const { owner, agent } = await fresh()
    const { agent: second } = await owner.does('rest', agents.create, { name: `Second ${made}`, visibility: 'public' })
    const [greedy, other] = [await person(server, `greedy ${made}`), await person(server, `other ${made}`)]
    reported = most / 10
    await greedy.does('rest', agents.chat, { id: agent, message: 'A tenth' })
    await expect.poll(() => tokensOf(owner)).toEqual([most / 10])
    asked = 0
    for (const id of [agent, second.id]) {
      const refusals = [
        await greedy.refused('socket', agents.run, { agent_id: id, message: 'More' }),
        await greedy.refused('rest', agents.chat, { id, message: 'More' }),
      ]
      for (const { code, retryAfter } of refusals) {
        expect(code).toBe('DAILY_TOKENS_REACHED')
        expect(retryAfter).toBeGreaterThan(0)
      }
      const streamed = await greedy.rest(`POST /api/agents/${id}/chat`, { message: 'More', stream: true })
      expect(outcomeOf(streamed)).toBe('429 DAILY_TOKENS_REACHED')
    }
    expect(asked).toBe(0)
    for (const who of [other, owner, owner]) await who.does('rest', agents.chat, { id: agent, message: 'And I?' })
    const { agent: free } = await fresh()
    await greedy.does('rest', agents.chat, { id: free, message: 'And you?' })
  })

  test('are kept as long as they count', async () => {
    const { owner } = await spent()
    const [row] = await TokenDays.find({ _id: { $gte: owner.account, $lt: `${owner.account}!` } }).lean()
    const left = (row?.expires_at.getTime() ?? 0) - Date.now()
    expect(left).toBeGreaterThan(day * 1_000)
    expect(left).toBeLessThan(3 * day * 1_000)
  })

  test('count, by the text, all that the model was given and all that it wrote', async () => {
    const { owner, agent } = await fresh()
    reported = null
    const call = {
      id: 'c',
      name: 'Platform_data',
      arguments: JSON.stringify({ query: `{ rooms } # ${'x'.repeat(400)}` }),
    }
    parts = [{ type: 'call', call }]
    await owner.does('rest', agents.chat, { id: agent, message: 'Look it up' })
    expect(questions).toHaveLength(4)
    const lengths = questions.map(({ turns, tools = [], called = [] }) => [
      turns.reduce((sum, { content }) => sum + content.length, 0) +
        (tools.length > 0 ? JSON.stringify(tools).length : 0) +
        called.reduce((sum, { call, result }) => sum + call.arguments.length + result.length, 0),
      text.length + call.arguments.length,
    ])
    const tokens = lengths.flat().reduce((sum, length) => sum + Math.ceil(length / 4), 0)
    await expect.poll(() => tokensOf(owner)).toEqual([tokens])
  })

  test('are all there for the rounds with tools of the first answer', async () => {
    const { owner, agent } = await fresh()
    reported = 1_500
    parts = [{ type: 'call', call: { id: 'c', name: 'Platform_data', arguments: '{"query":"{ rooms }"}' } }]
    await owner.does('rest', agents.chat, { id: agent, message: 'Look it up' })
    expect(asked).toBe(4)
  })

  test('end the rounds with tools', async () => {
    const { owner, agent } = await fresh()
    reported = most
    parts = [{ type: 'call', call: { id: 'c', name: 'Platform_data', arguments: '{"query":"{ rooms }"}' } }]
    await owner.does('rest', agents.chat, { id: agent, message: 'Look it up' })
    expect(asked).toBe(2)
  })
})

describe('where the tokens of its owner are used up, an agent', () => {
  test('says so in a room, once for each message', async () => {
    const alice = await person(server, `alice ${++made}`)
    const { agent } = await admin.does('rest', agents.create, { name: `Guide ${made}`, visibility: 'official' })
    reported = most
    await admin.does('rest', agents.chat, { id: agent.id, message: 'All of it' })
    await expect.poll(async () => (await tokensOf(admin))[0]).toBeGreaterThanOrEqual(most)
    asked = 0
    const room = await channelOf(alice)
    await admin.does('rest', agents.joinRoom, { id: agent.id, channelType: 'channel', channelId: room.id })
    const { id } = await say(alice, room, `@[${agent.name}](${agent.id}) hello`)
    const said = async () =>
      (await alice.does('rest', messages.history, { room })).messages.filter((message) =>
        message.sender_address.startsWith('agent:'),
      )
    await expect
      .poll(said)
      .toMatchObject([{ content: 'I have answered all that I may today. Ask me again tomorrow.', reply_to: { id } }])
    expect(asked).toBe(0)
  })

  test('is paid for nothing: the payment is good on the next day', async () => {
    const { owner, agent } = await spent(price)
    const payment = await paymentOf(wallet('payer'), { to: owner.account })
    const ask = (more = {}) => askPublic(server.url, agent, 'Hello?', payment, more)
    expect(outcomeOf(await ask())).toBe('429 DAILY_TOKENS_REACHED')
    expect(outcomeOf(await ask({ stream: true }))).toBe('429 DAILY_TOKENS_REACHED')
    const socket = await owner.tries('socket', payments.chat, { id: agent, message: 'Hello?', payment })
    expect(outcomeOf(socket)).toBe('429 DAILY_TOKENS_REACHED')
    expect([facilitator.asked, facilitator.charged, asked]).toEqual([{ verify: 0, settle: 0 }, [], 0])
    expect(outcomeOf(await askPublic(server.url, agent, 'Hello?'))).toBe('402 PAYMENT_REQUIRED')
    await TokenDays.updateMany({}, { $set: { tokens: 0 } })
    expect((await ask()).status).toBe(200)
    expect(facilitator.charged).toHaveLength(1)
  })

  test('answers what was paid for before, and counts it', async () => {
    const { owner, agent } = await fresh(price)
    const payment = await paymentOf(wallet('payer'), { to: owner.account })
    const ask = () => askPublic(server.url, agent, 'Hello?', payment)
    isFailing = true
    expect((await ask()).status).toBe(500)
    isFailing = false
    await expect.poll(async () => (await tokensOf(owner))[0]).toBeLessThan(2_048)
    const _id = (await TokenDays.find({ _id: { $gte: owner.account, $lt: `${owner.account}!` } }).lean())[0]?._id ?? ''
    await TokenDays.updateOne({ _id }, { $set: { tokens: most } })
    expect((await ask()).status).toBe(200)
    await expect.poll(() => tokensOf(owner)).toEqual([most + 10])
    expect(facilitator.charged).toHaveLength(1)
    expect((await call(server.url, `GET /api/public/agents/${agent}`)).status).toBe(200)
  })
})
