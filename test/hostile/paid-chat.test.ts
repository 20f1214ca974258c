// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Runs } from '#server/domains/agents/runs/model'
import { Payments } from '#server/domains/payments/payments/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { askPublic, paymentOf } from '#test/support/payments'
import { over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const facilitator = fakeFacilitator()
let server: Booted
let owner: Person
let agent: string
let asked = 0

beforeAll(async () => {
  const model = {
    name: 'counted',
    isScripted: true,
    async *answer() {
      asked += 1
      yield { type: 'text' as const, text: 'Yes.' }
      yield { type: 'end' as const, reason: 'stop' as const, inputTokens: 1, outputTokens: 1 }
    },
  }
  server = await boot({ environment: { BETA: 'open' }, services: { facilitator, model } })
  owner = await person(server, 'owner')
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  agent = (await owner.does('rest', agents.create, { name: 'Sold', visibility: 'public', ...price })).agent.id
})
afterAll(() => server.close())

test('T31: 5,000 questions without a payment are each answered 402, soon, and reach nobody', {
  ...heavy,
  timeout: 600_000,
}, async () => {
  const took: number[] = []
  const statuses = new Set<number>()
  const askOn = async () => {
    for (let time = 0; time < 1_000; time++) {
      const began = performance.now()
      statuses.add((await askPublic(server.url, agent, `Question ${time}`)).status)
      took.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: 5 }, askOn))
  took.sort((one, other) => one - other)
  expect([...statuses]).toEqual([402])
  // Far more than is promised, as tests share their machine.
  expect(took[Math.floor(took.length * 0.99)]).toBeLessThan(2_000)
  expect([asked, facilitator.asked, await Payments.countDocuments(), await Runs.countDocuments()]).toEqual([
    ...[0, { verify: 0, settle: 0 }],
    ...[0, 0],
  ])
})

test('T31: with forged payments they reach nobody either', heavy, async () => {
  const good = await paymentOf(wallet('payer'), { to: owner.account })
  const text = Buffer.from(good, 'base64').toString()
  for (let time = 0; time < 200; time++) {
    const forged = text.replace(/"nonce":"0x.{4}/, `"nonce":"0x${String(1_000 + time)}`)
    expect(await askPublic(server.url, agent, 'Question', forged)).toMatchObject({
      status: 402,
      code: 'INVALID_PAYMENT',
    })
  }
  expect([asked, facilitator.asked.verify, await Payments.countDocuments()]).toEqual([0, 0, 0])
})

test('T30: two different payments for one question are refused, and neither is taken', async () => {
  const [one, other] = await Promise.all(
    ['payer', 'second payer'].map((name) => paymentOf(wallet(name), { to: owner.account })),
  )
  const ask = (headers: Record<string, string>, payment?: string) =>
    fetch(`${server.url}/api/public/agents/${agent}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ message: 'Question', ...(payment === undefined ? {} : { payment }) }),
    })
  const before = await Payments.countDocuments()
  const answers = [
    await ask({ 'x-payment': String(one), 'payment-signature': String(other) }),
    await ask({ 'x-payment': String(one) }, String(other)),
    await ask({ 'payment-signature': String(one) }, String(other)),
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'VALIDATION_ERROR' })
  }
  expect(await Payments.countDocuments()).toBe(before)
  expect((await ask({ 'x-payment': String(one), 'payment-signature': String(one) }, String(one))).status).toBe(200)
})

test('T30: a payment header of 100 kB, or sent twice, is refused', async () => {
  const huge = await fetch(`${server.url}/api/public/agents/${agent}/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-payment': 'A'.repeat(100_000) },
    body: '{"message":"Hello"}',
  }).catch(() => null)
  expect([null, 400, 402, 431]).toContain(huge?.status ?? null)
  expect((await askPublic(server.url, agent, 'Hello', 'A'.repeat(9_000))).code).toBe('INVALID_PAYMENT')
  const payment = await paymentOf(wallet('payer'), { to: owner.account })
  const twice = new Headers([
    ['content-type', 'application/json'],
    ['x-payment', payment],
  ])
  twice.append('x-payment', payment)
  const answer = await fetch(`${server.url}/api/public/agents/${agent}/chat`, {
    method: 'POST',
    headers: twice,
    body: '{"message":"Hello"}',
  })
  expect(answer.status).toBe(402)
})

test.each(over)('T68: a price is a whole number of cents from 1 to 10,000, over %s', async (door) => {
  for (const x402PriceCents of [0, 0.5, 1e-7, 10_001, '100', -1, null, 1e30]) {
    const change = { id: agent, x402PriceCents } as { id: string; x402PriceCents: number }
    expect(await owner.refused(door, agents.update, change)).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 })
  }
})
