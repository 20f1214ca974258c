// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Runs } from '#server/domains/agents/runs/model'
import { Payments } from '#server/domains/payments/payments/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { askPublic, paymentOf } from '#test/support/payments'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { sequenceOf } from '#test/support/sequence'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const puppet = puppetModel()
const facilitator = fakeFacilitator()
const payer = wallet('payer')
let server: Booted
let owner: Person
let agent: string
let pay: (more?: object) => Promise<string>
let made = 0

beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' }, services: { model: puppet.model, facilitator } })
})
afterAll(() => server.close())

beforeEach(async () => {
  Object.assign(facilitator, {
    charged: [],
    asked: { verify: 0, settle: 0 },
    refuses: null,
    settlements: [],
    away: null,
  })
  owner = await person(server, `seller ${++made}`)
  agent = await sold({})
  pay = (more = {}) => paymentOf(payer, { to: owner.account, ...more })
})

const sold = async (more: object) => {
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  const given = { name: `Agent ${++made}`, visibility: 'public' as const, ...price, ...more }
  return (await owner.does('rest', agents.create, given)).agent.id
}
const unsold = async () =>
  (await owner.does('rest', agents.create, { name: `Agent ${++made}`, visibility: 'public' })).agent.id
const ask = (message: string, payment?: string, more = {}, url = server.url) =>
  askPublic(url, agent, message, payment, more)
const answers = async (...words: string[]) => {
  const question = await puppet.asked()
  question.say(...words)
  question.end()
  return question
}
type Line = Partial<Record<'type' | 'text' | 'message' | 'code', string>>
/** The lines of an answer; of a refusal its body. */
const linesOf = async (message: string, payment: string, more = {}, url = server.url): Promise<Line[]> => {
  const answer = await fetch(`${url}/api/public/agents/${agent}/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-payment': payment },
    body: JSON.stringify({ message, stream: true, ...more }),
  })
  return (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
/** Asks, and lets the model answer. */
const answered = async (message: string, payment: string, more = {}) => {
  const asked = ask(message, payment, more)
  await answers('Sure.')
  return asked
}
const historyOf = (id: string) =>
  call(server.url, `GET /api/public/agents/${id}/history?sessionId=0190a1b2-c3d4-4e5f-8a9b-000000000000`)
const header = (answer: Awaited<ReturnType<typeof call>>, name: string) =>
  JSON.parse(Buffer.from(answer.headers.get(name) ?? '', 'base64').toString())
const statsOf = async () => (await owner.does('rest', payments.receipts, { id: agent })).stats

describe('a paid question', () => {
  solo(
    'without a payment is answered 402 with what it costs, in the body and in headers of both versions',
    async () => {
      const answer = await ask('Hello?')
      expect(outcomeOf(answer)).toBe('402 PAYMENT_REQUIRED')
      const entry = { network: 'base-sepolia', amount: '50000', recipient: owner.account, maxAmountRequired: '50000' }
      expect(answer.body).toMatchObject({
        error: 'Payment Required',
        message: expect.stringContaining('$0.05'),
        paymentRequirements: { x402Version: 1, accepts: [entry] },
        x402Version: 1,
        accepts: [entry],
      })
      expect(JSON.parse(answer.headers.get('x-payment-required') ?? '')).toMatchObject({ accepts: [entry] })
      expect(header(answer, 'payment-required')).toMatchObject({
        x402Version: 2,
        accepts: [{ network: 'eip155:84532' }],
      })
      expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })
    },
  )

  solo('is verified, settled and then answered; the receipt links payment, run and message', async () => {
    const payment = await pay()
    const asked = ask('Hello?', payment)
    const question = await puppet.asked()
    expect(facilitator.charged).toHaveLength(1)
    question.say('Good ', 'day.')
    question.end()
    const { status, body, headers } = await asked
    expect(status).toBe(200)
    const transaction = `0x${'1'.padStart(64, '0')}`
    expect(body).toMatchObject({ success: true, message: 'Good day.', agent: { id: agent }, payment: { transaction } })
    expect(body.payment).toMatchObject({ state: 'settled', simulated: false, amount: '50000' })
    const settled = { success: true, transaction, payer: payer.address.toLowerCase() }
    expect(header({ headers } as never, 'x-payment-response')).toEqual({ ...settled, network: 'base-sepolia' })
    expect(header({ headers } as never, 'payment-response')).toEqual({ ...settled, network: 'eip155:84532' })
    expect((await Payments.findOne({ agent_id: agent }).lean())?.expires_at.getFullYear()).toBeGreaterThan(9_000)
    const { receipts, stats } = await owner.does('socket', payments.receipts, { id: agent })
    expect(receipts).toMatchObject([{ cents: 5, transaction, state: 'settled', payer: payer.address.toLowerCase() }])
    const run = await Runs.findOne({ _id: receipts[0]?.run_id ?? '' }).lean()
    expect(run).toMatchObject({ message: 'Hello?', message_id: receipts[0]?.message_id, content: 'Good day.' })
    expect(stats).toMatchObject({ paidMessages: 1, totalEarnings: 5, simulatedEarnings: 0 })
    const known = await call(server.url, `GET /api/public/payments/${receipts[0]?.id}`)
    expect(known.body).toMatchObject({ state: 'settled', agent_id: agent, transaction })
  })

  solo('is streamed as lines, the last with the session and the payment', async () => {
    const payment = await pay()
    const sessionId = '0190a1b2-c3d4-4e5f-8a9b-0c1d2e3f4a5b'
    const asked = fetch(`${server.url}/api/public/agents/${agent}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-payment': payment },
      body: JSON.stringify({ message: 'Hello?', stream: true, sessionId }),
    })
    await answers('Good day.')
    const answer = await asked
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson')
    expect(answer.headers.get('x-payment-response')).not.toBeNull()
    const lines = (await answer.text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { type: 'chunk', text: 'Good day.' },
      expect.objectContaining({ type: 'done', message: 'Good day.', sessionId }),
    ])
    const unpaid = await ask('Hello?', undefined, { stream: true })
    expect(outcomeOf(unpaid)).toBe('402 PAYMENT_REQUIRED')
  })

  test('T30: whose answer is being written is read along from its first word by who asks to follow it, and charged once', async () => {
    const payment = await pay()
    const asked = linesOf('A tale?', payment)
    const question = await puppet.asked()
    question.say('Once ')
    await expect.poll(() => Runs.countDocuments({ agent_id: agent, state: 'running' })).toBe(1)
    await expect.poll(async () => (await Payments.findOne({ agent_id: agent }).lean())?.leased_until.getTime()).toBe(0)
    const along = [...server.urls, ...server.urls].map((url) => linesOf('A tale?', payment, { follow: true }, url))
    const elsewhere = linesOf('Another?', payment, { follow: true })
    expect(await elsewhere).toEqual([expect.objectContaining({ code: 'INVALID_PAYMENT' })])
    question.say('upon a time')
    question.end()
    const told = (lines: Line[]) => [lines.map(({ text = '' }) => text).join(''), lines.at(-1)?.message]
    for (const lines of [await asked, ...(await Promise.all(along))])
      expect(told(lines)).toEqual(['Once upon a time', 'Once upon a time'])
    expect(facilitator.charged).toHaveLength(1)
    expect(await Runs.countDocuments({ agent_id: agent })).toBe(1)
  })

  solo('is streamed over a socket as over REST: refused before its first line, or told by the same lines', async () => {
    const unpaid = await owner.refused('socket', payments.chatStream, { id: agent, message: 'Hello?' })
    expect(unpaid).toMatchObject({ code: 'PAYMENT_REQUIRED', status: 402, details: { x402Version: 1 } })
    const payment = await pay()
    const asked = sequenceOf<{ type: string }>('socket', owner, payments.chatStream, {
      id: agent,
      message: 'Hello?',
      payment,
    })
    const question = await puppet.asked()
    question.say('Good day.')
    question.end('length')
    const { items, end } = await asked
    expect(await end).toBeNull()
    const [chunk, last] = items
    expect([chunk, last]).toEqual([
      { type: 'chunk', text: 'Good day.' },
      expect.objectContaining({ type: 'done', message: 'Good day.', scheduling: null, cut_short: 'length' }),
    ])
    const { sessionId } = payments.chatStream.output.options[1].parse(last)
    for (const door of over)
      expect(await owner.does(door, payments.history, { id: agent, sessionId })).toMatchObject({
        messages: [{ content: 'Hello?' }, { content: 'Good day.' }],
      })
  })

  solo.each(over)('O68: a session in which nothing was said has no history, over %s', async (door) => {
    const sessionId = '0190a1b2-c3d4-4e5f-8a9b-000000000000'
    const refused = await owner.refused(door, payments.history, { id: agent, sessionId })
    expect(refused).toMatchObject({ code: 'CHAT_HISTORY_NOT_FOUND' })
    expect(outcomeOf(await historyOf(agent))).toBe('404 CHAT_HISTORY_NOT_FOUND')
  })

  solo.each(over)('can be weighed before: what the agent is and costs is told to anybody, over %s', async (door) => {
    const told = await owner.does(door, payments.agent, { id: agent })
    expect(told).toMatchObject({ id: agent, x402_enabled: true, x402_price_cents: 5 })
    const info = await owner.does(door, payments.info, { id: agent })
    expect(info).toMatchObject({ agent: { id: agent }, pricing: { enabled: true, priceCents: 5 } })
    const id = 'nobody'
    expect((await owner.refused(door, payments.info, { id })).code).toBe('AGENT_NOT_FOUND')
    expect((await owner.refused(door, payments.agent, { id })).code).toBe('AGENT_NOT_FOUND')
    const sessionId = '0190a1b2-c3d4-4e5f-8a9b-000000000000'
    expect((await owner.refused(door, payments.history, { id, sessionId })).code).toBe('AGENT_NOT_FOUND')
    await owner.does('rest', agents.update, { id: agent, visibility: 'private' })
    for (const operation of [payments.agent, payments.history])
      expect(
        (await owner.refused(door, operation, { id: agent, ...(operation === payments.history && { sessionId }) }))
          .code,
      ).toBe('AGENT_NOT_PUBLIC')
    expect((await owner.refused(door, payments.info, { id: agent })).code).toBe('AGENT_NOT_FOUND')
  })

  solo('whose answer was cut off says so: in the answer, in the last line and in the history', async () => {
    const cutOff = async () => {
      const question = await puppet.asked()
      question.say('Once upon a')
      question.end('length')
    }
    const asked = ask('A tale?', await pay())
    await cutOff()
    const { body } = await asked
    expect(body).toMatchObject({ message: 'Once upon a', cut_short: 'length' })
    const payment = await pay()
    const read = fetch(`${server.url}/api/public/agents/${agent}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-payment': payment },
      body: JSON.stringify({ message: 'Another?', stream: true }),
    })
    await cutOff()
    const lines = (await (await read).text()).trim().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'done', message: 'Once upon a', cut_short: 'length' })
    const history = await call(server.url, `GET /api/public/agents/${agent}/history?sessionId=${body.sessionId}`)
    expect(history.body.messages).toEqual([
      { role: 'user', content: 'A tale?' },
      { role: 'assistant', content: 'Once upon a', cut_short: 'length' },
    ])
  })

  solo('of a session is answered with what was said before in it, and its history is told', async () => {
    const first = await answered('One?', await pay())
    const { sessionId } = first.body as { sessionId: string }
    const asked = ask('Two?', await pay(), { sessionId })
    const { question } = await answers('Two.')
    expect(question.turns.map(({ content }) => content).slice(1)).toEqual(['One?', 'Sure.', 'Two?'])
    expect((await asked).body).toMatchObject({ sessionId })
    const history = (session: string) =>
      call(server.url, `GET /api/public/agents/${agent}/history?sessionId=${session}`)
    await expect
      .poll(async () => (await history(sessionId)).body)
      .toEqual({
        sessionId,
        messages: [
          { role: 'user', content: 'One?' },
          { role: 'assistant', content: 'Sure.' },
          { role: 'user', content: 'Two?' },
          { role: 'assistant', content: 'Two.' },
        ],
      })
    expect(outcomeOf(await history('0190a1b2-c3d4-4e5f-8a9b-000000000000'))).toBe('404 CHAT_HISTORY_NOT_FOUND')
    expect((await history('mine')).status).toBe(400)
    expect((await call(server.url, `GET /api/public/agents/${agent}/history`)).status).toBe(400)
  })

  solo('over a socket is paid in its input, and refused with what it costs', async () => {
    const somebody = await person(server, 'somebody with a page')
    const refused = await somebody.refused('socket', payments.chat, { id: agent, message: 'Hello?' })
    expect(refused).toMatchObject({
      code: 'PAYMENT_REQUIRED',
      status: 402,
      details: { accepts: [{ amount: '50000' }] },
    })
    const asked = somebody.does('socket', payments.chat, { id: agent, message: 'Hello?', payment: await pay() })
    await answers('Good day.')
    expect(await asked).toMatchObject({ message: 'Good day.', payment: { state: 'settled' } })
  })

  solo('may be paid by the header of version 2, and by JSON', async () => {
    const envelope = JSON.parse(Buffer.from(await pay(), 'base64').toString())
    const second = { x402Version: 2, accepted: { scheme: 'exact', network: 'eip155:84532' }, payload: envelope.payload }
    const base64 = Buffer.from(JSON.stringify(second)).toString('base64')
    const asked = call(server.url, `POST /api/public/agents/${agent}/chat`, { message: 'Hi' }, undefined, {
      'payment-signature': base64,
    })
    await answers('Yes.')
    expect((await asked).status).toBe(200)
    const json = Buffer.from(await pay(), 'base64').toString()
    expect((await answered('Hi again', json)).status).toBe(200)
  })
})

solo.each(over)('T30: a payment whose envelope contradicts the offer is refused, over %s', async (door) => {
  const { payload } = JSON.parse(Buffer.from(await pay(), 'base64').toString())
  const accepted = { scheme: 'exact', network: 'eip155:84532', amount: '1' }
  const payment = JSON.stringify({ x402Version: 2, accepted, payload })
  const asker = await person(server, 'who pays something else')
  const refused = await asker.refused(door, payments.chat, { id: agent, message: 'Hi', payment })
  expect(refused).toMatchObject({ status: 402, code: 'INVALID_PAYMENT' })
})

describe('T30: one payment', () => {
  test('asked with at once on every node is charged once and answered once', async () => {
    const payment = await pay()
    const tries = Array.from({ length: 50 }, (_, at) =>
      ask('Hello?', payment, {}, server.urls[at % server.urls.length]),
    )
    const question = await puppet.asked()
    // All but the one that is answered are refused while it waits for the model.
    const settled: string[] = []
    for (const one of tries) void one.then((answer) => settled.push(outcomeOf(answer)))
    await expect.poll(() => settled.length).toBe(49)
    question.say('Once.')
    question.end()
    await Promise.all(tries)
    await expect.poll(() => settled.length).toBe(50)
    expect(settled.filter((outcome) => outcome === '200')).toHaveLength(1)
    expect(new Set(settled)).toEqual(new Set(['200', '409 CONFLICT']))
    expect(facilitator.charged).toHaveLength(1)
    expect(await Runs.countDocuments({ agent_id: agent })).toBe(1)
  })

  test('repeated with the same question is answered the same, and with another is refused', async () => {
    const payment = await pay()
    const first = await answered('Hello?', payment)
    for (const url of server.urls) expect((await ask('Hello?', payment, {}, url)).body).toEqual(first.body)
    const otherwise = await ask('Something else?', payment)
    expect(outcomeOf(otherwise)).toBe('409 INVALID_PAYMENT')
    // By a price, clients would pay another time by themselves.
    for (const price of ['accepts', 'paymentRequirements']) expect(otherwise.body).not.toHaveProperty(price)
    expect(outcomeOf(await ask('Hello?', payment, { sessionId: first.body.sessionId }))).toBe('409 INVALID_PAYMENT')
    const other = await sold({})
    expect(outcomeOf(await askPublic(server.url, other, 'Hello?', payment))).toBe('409 INVALID_PAYMENT')
    expect(facilitator).toMatchObject({ asked: { settle: 1 } })
  })

  solo('of which the nonce is used by another signature is refused', async () => {
    const nonce = `0x${'5e'.repeat(32)}` as const
    await answered('Hello?', await pay({ nonce }))
    expect(outcomeOf(await ask('Hello?', await pay({ nonce, value: '60000' })))).toBe('402 INVALID_PAYMENT')
  })

  solo.each([
    ['too little', { value: '49999' }, 'INSUFFICIENT_PAYMENT'],
    ['for another network', { network: 'base' }, 'WRONG_NETWORK'],
    ['for somebody else', { to: wallet('thief').address }, 'INVALID_PAYMENT'],
    ['that is over', { until: 1_700_000_000 }, 'PAYMENT_EXPIRED'],
  ])('%s is refused with its code and what is to be paid, and asks nobody', async (_what, more, code) => {
    const answer = await ask('Hello?', await pay(more))
    expect(outcomeOf(answer)).toBe(`402 ${code}`)
    expect(answer.body).toMatchObject({ error: 'Payment Invalid', accepts: [{ amount: '50000' }] })
    expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })
    expect(await Payments.countDocuments({ agent_id: agent })).toBe(0)
  })

  solo.each([
    ['funds', 'INSUFFICIENT_PAYMENT'],
    ['expired', 'PAYMENT_EXPIRED'],
    ['invalid', 'INVALID_PAYMENT'],
    ['network', 'WRONG_NETWORK'],
  ] as const)('that the facilitator refuses (%s) is not settled, and stays refused', async (refuses, code) => {
    facilitator.refuses = refuses
    const payment = await pay()
    expect(outcomeOf(await ask('Hello?', payment))).toBe(`402 ${code}`)
    facilitator.refuses = null
    expect(outcomeOf(await ask('Hello?', payment))).toBe(`402 ${code}`)
    expect(facilitator.charged).toEqual([])
    const stored = await Payments.findOne({ agent_id: agent }).lean()
    expect(stored?.expires_at.getTime()).toBeLessThan(Date.now() + 2 * 86_400_000)
  })

  solo('that is more than the price counts as what it is', async () => {
    await answered('Hello?', await pay({ value: '129999' }))
    expect(await statsOf()).toMatchObject({ paidMessages: 1, totalEarnings: 12 })
  })

  solo('is counted in what the agent has earned, which its owner sees and nobody sets', async () => {
    await answered('One?', await pay())
    await answered('Two?', await pay())
    facilitator.settlements = [{ state: 'refused', reason: 'failed' }]
    await ask('Three?', await pay())
    const set = { x402TotalEarningsCents: 999, x402_total_earnings_cents: 999, x402_message_count_paid: 999 }
    await owner.rest(`PATCH /api/agents/${agent}`, { ...set, tags: ['sold'] })
    const earned = { x402_total_earnings_cents: 10, x402_message_count_paid: 2 }
    for (const door of over) expect((await owner.does(door, agents.get, { id: agent })).agent).toMatchObject(earned)
    const somebody = await person(server, 'somebody who looks')
    const card = (await somebody.does('rest', agents.get, { id: agent })).agent
    expect(Object.keys(card)).not.toContain('x402_total_earnings_cents')
    expect(Object.keys(card)).not.toContain('x402_message_count_paid')
  })
})

describe('a settlement', () => {
  solo('that is refused is told, and nothing is answered', async () => {
    facilitator.settlements = [{ state: 'refused', reason: 'failed' }]
    const payment = await pay()
    expect(outcomeOf(await ask('Hello?', payment))).toBe('402 X402_PAYMENT_FAILED')
    expect(await Runs.countDocuments({ agent_id: agent })).toBe(0)
    expect(await statsOf()).toMatchObject({ paidMessages: 0, totalEarnings: 0 })
  })

  solo('of which a first attempt finds the authorization used buys nothing', async () => {
    facilitator.settlements = [{ state: 'used' }]
    expect(outcomeOf(await ask('Hello?', await pay()))).toBe('402 INVALID_PAYMENT')
    expect(await Runs.countDocuments({ agent_id: agent })).toBe(0)
  })

  test(
    'that timed out after it charged is answered 202, charged once in 20 retries, and then answered',
    heavy,
    async () => {
      facilitator.settlements = ['lost', 'TIMEOUT', 'UPSTREAM_ERROR']
      const payment = await pay()
      const first = await ask('Hello?', payment)
      expect(outcomeOf(first)).toBe('202 PAYMENT_PENDING')
      expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0)
      const { id, url } = first.body.payment as { id: string; url: string }
      expect(url).toContain(`/api/public/payments/${id}`)
      expect((await call(server.url, `GET /api/public/payments/${id}`)).body).toMatchObject({ state: 'unknown' })
      const outcomes: string[] = []
      const waiting = puppet.asked().then((question) => {
        question.say('At last.')
        question.end()
      })
      while (!outcomes.includes('200')) {
        outcomes.push(outcomeOf(await ask('Hello?', payment, {}, server.urls[outcomes.length % server.urls.length])))
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
      await waiting
      while (outcomes.length < 20) outcomes.push(outcomeOf(await ask('Hello?', payment)))
      expect(outcomes.filter((outcome) => outcome.startsWith('402'))).toEqual([])
      expect(facilitator.charged).toHaveLength(1)
      expect(await Runs.countDocuments({ agent_id: agent })).toBe(1)
      expect(await statsOf()).toMatchObject({ paidMessages: 1, totalEarnings: 5 })
    },
  )

  test('of which nothing is known is found out without another word of the payer', async () => {
    facilitator.settlements = ['TIMEOUT']
    const first = await ask('Hello?', await pay())
    const { id } = first.body.payment as { id: string }
    await expect
      .poll(async () => (await call(server.url, `GET /api/public/payments/${id}`)).body)
      .toMatchObject({ state: 'settled', transaction: expect.stringMatching(/^0x/) })
    expect(await statsOf()).toMatchObject({ paidMessages: 1 })
  })

  solo.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'is not asked for while the facilitator says %s of the check',
    async (how) => {
      facilitator.away = how
      const payment = await pay()
      const { status, code } = await ask('Hello?', payment)
      expect(code).toBe(how)
      expect(status).toBe(how === 'TIMEOUT' ? 504 : 502)
      facilitator.away = null
      expect((await answered('Hello?', payment)).status).toBe(200)
      expect(facilitator.charged).toHaveLength(1)
    },
  )
})

describe('an answer that fails', () => {
  solo('leaves its payment good for another with the same question', async () => {
    const payment = await pay()
    const asked = ask('Hello?', payment)
    ;(await puppet.asked()).fail(new AppError('RUN_LOST'))
    expect(outcomeOf(await asked)).toBe('500 RUN_LOST')
    await expect.poll(() => Runs.countDocuments({ agent_id: agent, state: 'failed' })).toBe(1)
    expect(outcomeOf(await ask('Another?', payment))).toBe('409 INVALID_PAYMENT')
    const again = await answered('Hello?', payment)
    expect(again.body).toMatchObject({ message: 'Sure.' })
    expect((await ask('Hello?', payment)).body).toEqual(again.body)
    const { sessionId } = again.body
    const history = await call(server.url, `GET /api/public/agents/${agent}/history?sessionId=${sessionId}`)
    expect(history.body.messages).toEqual([
      { role: 'user', content: 'Hello?' },
      { role: 'assistant', content: 'Sure.' },
    ])
    expect(facilitator.charged).toHaveLength(1)
    expect(await statsOf()).toMatchObject({ paidMessages: 1 })
  })

  solo('is given another try where the agent is not sold any more, as it is paid', async () => {
    const payment = await pay()
    const asked = ask('Hello?', payment)
    ;(await puppet.asked()).fail(new AppError('RUN_LOST'))
    await asked
    await expect.poll(() => Runs.countDocuments({ agent_id: agent, state: 'failed' })).toBe(1)
    await owner.does('rest', agents.update, { id: agent, x402Enabled: false })
    expect(outcomeOf(await ask('Hello?', await pay()))).toBe('400 X402_NOT_ENABLED')
    expect((await answered('Hello?', payment)).body).toMatchObject({ message: 'Sure.' })
  })

  solo.each([{ visibility: 'private' }, { visibility: 'friends' }, { publicAccessEnabled: false }] as const)(
    'is given another try where the agent is not public any more (%o), and nobody else is answered',
    async (change) => {
      const payment = await pay()
      const asked = ask('Hello?', payment)
      ;(await puppet.asked()).fail(new AppError('RUN_LOST'))
      await asked
      await expect.poll(() => Runs.countDocuments({ agent_id: agent, state: 'failed' })).toBe(1)
      await owner.does('rest', agents.update, { id: agent, ...change })
      const refused = [
        await ask('Hello?'),
        await ask('Hello?', await pay()),
        await ask('Another?', payment),
        await ask('Hello?', payment, { sessionId: '0190a1b2-c3d4-4e5f-8a9b-000000000000' }),
        await ask('Hello?', 'nonsense'),
      ]
      const outcome =
        'visibility' in change && change.visibility === 'private' ? '404 AGENT_NOT_FOUND' : '403 AGENT_NOT_PUBLIC'
      expect(refused.map(outcomeOf)).toEqual(Array(5).fill(outcome))
      expect((await answered('Hello?', payment)).body).toMatchObject({ message: 'Sure.' })
      expect((await linesOf('Hello?', payment)).at(-1)).toMatchObject({ type: 'done', message: 'Sure.' })
      expect(facilitator.charged).toHaveLength(1)
    },
  )

  solo('is given where it is known only later that it was paid, and the agent is private by then', heavy, async () => {
    facilitator.settlements = ['lost']
    const payment = await pay()
    expect(outcomeOf(await ask('Hello?', payment))).toBe('202 PAYMENT_PENDING')
    await owner.does('rest', agents.update, { id: agent, visibility: 'private' })
    await expect.poll(async () => (await Payments.findOne({ agent_id: agent }).lean())?.state).toBe('settled')
    expect((await answered('Hello?', payment)).body).toMatchObject({ message: 'Sure.' })
    expect(facilitator.charged).toHaveLength(1)
  })

  solo('is begun five times at most, and its last line says how many are left', async () => {
    const payment = await pay()
    for (let time = 1; time <= 5; time++) {
      const asked = linesOf('Hello?', payment)
      ;(await puppet.asked()).fail(new AppError('UPSTREAM_ERROR'))
      const left = expect.objectContaining({ state: 'settled', answers_left: 5 - time })
      expect(await asked).toEqual([expect.objectContaining({ type: 'error', payment: left })])
      await expect.poll(() => Runs.countDocuments({ agent_id: agent, state: 'failed' })).toBe(time)
    }
    expect(outcomeOf(await ask('Hello?', payment))).toBe('500 UPSTREAM_ERROR')
    expect(await Runs.countDocuments({ agent_id: agent })).toBe(5)
  })
})

solo('what is refused is refused alike where the answer would be lines', async () => {
  const outcome = async (payment?: string) => outcomeOf(await ask('Hello?', payment, { stream: true }))
  expect(await outcome()).toBe('402 PAYMENT_REQUIRED')
  expect(await outcome('nonsense')).toBe('402 INVALID_PAYMENT')
  expect(await outcome(await pay({ value: '1' }))).toBe('402 INSUFFICIENT_PAYMENT')
  expect(await outcome(await pay({ network: 'base' }))).toBe('402 WRONG_NETWORK')
  expect(await outcome(await pay({ until: 1 }))).toBe('402 PAYMENT_EXPIRED')
  facilitator.settlements = [{ state: 'refused', reason: 'failed' }, 'lost']
  expect(await outcome(await pay())).toBe('402 X402_PAYMENT_FAILED')
  expect(await outcome(await pay())).toBe('202 PAYMENT_PENDING')
  for (const away of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
    facilitator.away = away
    expect(await outcome(await pay())).toContain(away)
  }
  agent = await unsold()
  expect(await outcome()).toBe('400 X402_NOT_ENABLED')
  agent = (await owner.does('rest', agents.create, { name: `Agent ${++made}`, visibility: 'friends' })).agent.id
  expect(await outcome()).toBe('403 AGENT_NOT_PUBLIC')
  agent = 'nobody'
  expect(await outcome()).toBe('404 AGENT_NOT_FOUND')
})

describe('who may be asked', () => {
  solo('one for friends is refused and hidden, a private one is not there, as an unknown one', async () => {
    for (const [visibility, outcome] of [
      ['private', '404 AGENT_NOT_FOUND'],
      ['friends', '403 AGENT_NOT_PUBLIC'],
    ] as const) {
      agent = await sold({ visibility })
      expect(outcomeOf(await ask('Hello?'))).toBe(outcome)
      expect(outcomeOf(await call(server.url, `GET /api/public/agents/${agent}`))).toBe(outcome)
      expect(outcomeOf(await call(server.url, `GET /api/public/agents/${agent}/chat`))).toBe('404 AGENT_NOT_FOUND')
    }
    agent = await sold({ publicAccessEnabled: false })
    expect(outcomeOf(await ask('Hello?'))).toBe('403 AGENT_NOT_PUBLIC')
    agent = 'nobody'
    expect(outcomeOf(await ask('Hello?'))).toBe('404 AGENT_NOT_FOUND')
    expect(outcomeOf(await call(server.url, 'GET /api/public/agents/nobody'))).toBe('404 AGENT_NOT_FOUND')
    expect(outcomeOf(await historyOf('nobody'))).toBe('404 AGENT_NOT_FOUND')
    expect(outcomeOf(await historyOf(await sold({ visibility: 'private' })))).toBe('404 AGENT_NOT_FOUND')
    expect(outcomeOf(await call(server.url, 'GET /api/public/payments/nothing'))).toBe('404 PAYMENT_NOT_FOUND')
  })

  solo('one that is not sold answers nobody without an account', async () => {
    agent = await unsold()
    expect(outcomeOf(await ask('Hello?'))).toBe('400 X402_NOT_ENABLED')
    expect(outcomeOf(await ask('Hello?', await pay()))).toBe('400 X402_NOT_ENABLED')
    expect((await call(server.url, `GET /api/public/agents/${agent}/chat`)).body).toMatchObject({
      pricing: { enabled: false },
    })
  })

  solo('T29: strangers see what is declared for them, and nothing of what the agent is told', async () => {
    await owner.rest(`PATCH /api/agents/${agent}`, { systemInstructions: 'the secret canary' })
    const { body } = await call(server.url, `GET /api/public/agents/${agent}`)
    expect(body).toMatchObject({ has_events: false, events_count: 0, x402_simulated: false })
    expect(Object.keys(body).sort()).toEqual(Object.keys(payments.agent.output.shape).sort())
    const info = await call(server.url, `GET /api/public/agents/${agent}/chat`)
    expect(info.body).toMatchObject({
      pricing: {
        enabled: true,
        pricePerMessage: '$0.05',
        priceCents: 5,
        network: 'base-sepolia',
        payTo: owner.account,
      },
      endpoints: { chat: expect.stringContaining(`/api/public/agents/${agent}/chat`) },
    })
    expect(JSON.stringify([body, info.body])).not.toContain('canary')
  })

  solo('the receipts and the code are for the owner alone', async () => {
    const other = await person(server, 'somebody else')
    for (const operation of [payments.receipts, payments.embed]) {
      expect(await other.refused('rest', operation, { id: agent })).toMatchObject({ code: 'AGENT_PRIVATE' })
      expect(await other.refused('socket', operation, { id: agent })).toMatchObject({ code: 'AGENT_PRIVATE' })
      expect(await owner.refused('rest', operation, { id: 'nothing' })).toMatchObject({ code: 'AGENT_NOT_FOUND' })
    }
    agent = await unsold()
    expect(await owner.refused('rest', payments.embed, { id: agent })).toMatchObject({ code: 'X402_NOT_ENABLED' })
  })

  solo('a page of any site may ask, without the session of its visitor', async () => {
    const origin = 'https://blog.example'
    const path = `/api/public/agents/${agent}/chat`
    const preflight = await fetch(server.url + path, { method: 'OPTIONS', headers: { origin } })
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toContain('X-Payment')
    const answer = await call(server.url, `POST ${path}`, { message: 'Hi' }, undefined, { origin })
    expect(answer.status).toBe(402)
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-PAYMENT-RESPONSE')
    const elsewhere = await call(server.url, 'POST /api/agents', { name: 'x' }, undefined, { origin })
    expect(elsewhere.status).toBe(403)
  })
})
