// Modes: embedded, two-nodes-redis
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Runs } from '#server/domains/agents/runs/model'
import { takeQuestionSlots } from '#server/domains/payments/paid-chat/chat'
import { Payments } from '#server/domains/payments/payments/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { askPublic, paymentOf } from '#test/support/payments'
import { outcomeOf, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const puppet = puppetModel()
const facilitator = fakeFacilitator()
const payer = wallet('payer')
let server: Booted
let owner: Person
let agent: string
let made = 0

beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' }, services: { model: puppet.model, facilitator } })
})
afterAll(() => server.close())

beforeEach(async () => {
  const fresh = { charged: [], asked: { verify: 0, settle: 0 }, refuses: null, settlements: [], away: null }
  Object.assign(facilitator, { ...fresh, isSimulated: false, meanwhile: () => undefined })
  owner = await person(server, `seller ${++made}`)
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  agent = (await owner.does('rest', agents.create, { name: `Sold ${made}`, visibility: 'public', ...price })).agent.id
})
afterEach(async () => {
  server.setAhead(0)
  for (const app of server.apps)
    await expect.poll(() => slotsOf(app.node), { message: 'Slots that were not given back' }).toBe(64)
})

/** How many slots an address has left. */
function slotsOf(node: Booted['apps'][number]['node']): number {
  const taken: (() => void)[] = []
  try {
    for (;;) taken.push(takeQuestionSlots(node, `agent ${taken.length}`, '127.0.0.1'))
  } catch {
    for (const giveBack of taken) giveBack()
    return taken.length
  }
}

const pay = (more: object = {}) => paymentOf(payer, { to: owner.account, ...more })
const ask = (payment: string, more = {}) => askPublic(server.url, agent, 'Hello?', payment, more)
const refusalOf = ({ status, code }: Awaited<ReturnType<typeof call>>) => outcomeOf({ status, code })
async function answered(payment: string, more = {}) {
  const asked = ask(payment, more)
  const question = await puppet.asked()
  question.say('Sure.')
  question.end()
  return asked
}
const stored = () => Payments.findOne({ agent_id: agent }).lean()

solo('T30: a payment is the same in whatever case its nonce, payer and payee are written', async () => {
  const payment = await pay()
  const first = await answered(payment)
  const envelope = JSON.parse(Buffer.from(payment, 'base64').toString())
  const { authorization } = envelope.payload
  for (const name of ['nonce', 'from', 'to']) authorization[name] = `0x${authorization[name].slice(2).toUpperCase()}`
  expect((await ask(JSON.stringify(envelope))).body).toEqual(first.body)
  expect(await Payments.countDocuments({ agent_id: agent })).toBe(1)
  expect(facilitator.charged).toHaveLength(1)
})

solo('T30: a question that is being answered is not answered a second time for its payment', async () => {
  const payment = await pay()
  const asked = ask(payment)
  const question = await puppet.asked()
  await expect.poll(async () => (await stored())?.leased_until.getTime()).toBe(0)
  for (let tries = 0; tries < 3; tries++) expect(refusalOf(await ask(payment))).toBe('409 CONFLICT')
  question.say('Once.')
  question.end()
  expect((await asked).body).toMatchObject({ message: 'Once.' })
  expect(await Runs.countDocuments({ agent_id: agent })).toBe(1)
})

test('T30: nobody else works on a payment whose settlement takes longer than a lease', heavy, async () => {
  facilitator.meanwhile = () => pause(9_000)
  const payment = await pay()
  const asked = ask(payment)
  await pause(7_500)
  expect(refusalOf(await ask(payment))).toBe('409 CONFLICT')
  const question = await puppet.asked()
  question.say('Sure.')
  question.end()
  expect((await asked).status).toBe(200)
  expect(facilitator.asked.settle).toBe(1)
})

test('T30: who has lost the lease of a payment writes nothing more of it', async () => {
  facilitator.meanwhile = async () => {
    const another = { holder: 'another', leased_until: new Date(Date.now() + 3_600_000) }
    await Payments.updateOne({ agent_id: agent }, { $set: another })
  }
  expect((await ask(await pay())).status).toBe(500)
  expect(await stored()).toMatchObject({ state: 'unknown', holder: 'another', run_id: null, settled_at: null })
  expect((await stored())?.leased_until.getTime()).toBeGreaterThan(Date.now())
  expect(await Runs.countDocuments({ agent_id: agent })).toBe(0)
})

solo('T30: a settlement without an answer is tried again when it is due, not whenever somebody asks', async () => {
  facilitator.settlements = Array.from({ length: 100 }, () => 'TIMEOUT' as const)
  const payment = await pay()
  const began = Date.now()
  let asked = 0
  for (; asked < 20 || Date.now() - began < 1_500; asked++)
    expect(['202 PAYMENT_PENDING', '409 CONFLICT']).toContain(refusalOf(await ask(payment)))
  const took = (Date.now() - began) / 1_000
  expect(facilitator.asked.settle).toBeLessThanOrEqual(2 + Math.log2(1 + took))
  await Payments.updateOne({ agent_id: agent }, { $set: { state: 'rejected', code: 'INVALID_PAYMENT' } })
})

test.each([
  ['was charged', 'lost', 1],
  ['was not', 'TIMEOUT', 0],
] as const)(
  'P22: a payment of unknown fate that %s stays so where no chain can be asked, and is charged no second time',
  async (_what, first, charges) => {
    facilitator.settlements = [first, ...Array(100).fill({ state: 'refused', reason: 'expired' })]
    const payment = await pay()
    expect(refusalOf(await ask(payment))).toBe('202 PAYMENT_PENDING')
    for (let hours = 1; hours <= 4; hours++) {
      const { settle } = facilitator.asked
      server.setAhead(hours * 3_600)
      await expect.poll(() => facilitator.asked.settle).toBeGreaterThan(settle)
      for (const url of server.urls)
        expect(['202 PAYMENT_PENDING', '409 CONFLICT']).toContain(
          refusalOf(await askPublic(url, agent, 'Hello?', payment)),
        )
      expect(refusalOf(await askPublic(server.url, agent, 'Another?', payment))).toBe('409 INVALID_PAYMENT')
    }
    const known = await call(server.url, `GET /api/public/payments/${(await stored())?._id}`)
    expect(known.body).toMatchObject({ state: 'unknown', is_over: true })
    expect(await stored()).toMatchObject({ state: 'unknown', answers: 0 })
    expect(facilitator.charged).toHaveLength(charges)
    const { receipts, stats } = await owner.does('rest', payments.receipts, { id: agent })
    expect([receipts.map(({ state }) => state), stats.paidMessages]).toEqual([['unknown'], 0])
    // Once it can be told, it is, and what was paid for is answered.
    facilitator.settlements = []
    server.setAhead(5 * 3_600)
    await expect.poll(async () => (await stored())?.state).toBe('settled')
    await expect.poll(async () => (await stored())?.leased_until.getTime()).toBe(0)
    expect((await answered(payment)).status).toBe(200)
    expect(facilitator.charged).toHaveLength(1)
  },
)

solo('a payment that is over says so while its outcome is not known, and another is taken beside it', async () => {
  facilitator.settlements = Array.from({ length: 100 }, () => 'TIMEOUT' as const)
  const until = Math.floor(Date.now() / 1_000) + 600
  const payment = await pay({ until })
  const told = { usable_until: new Date(until * 1_000).toISOString() }
  const first = await ask(payment)
  expect(first).toMatchObject({ status: 202, body: { payment: { ...told, is_over: false } } })
  const { id } = first.body.payment as { id: string }
  const shown = async () => (await call(server.url, `GET /api/public/payments/${id}`)).body
  expect(await shown()).toMatchObject({ state: 'unknown', ...told, is_over: false })
  server.setAhead(650)
  expect(await shown()).toMatchObject({ is_over: false })
  server.setAhead(730)
  expect(await shown()).toMatchObject({ state: 'unknown', ...told, is_over: true })
  const pending = async () => {
    const { status, body, headers } = await ask(payment)
    return { status, body, retryAfter: Number(headers.get('retry-after')) }
  }
  await expect.poll(pending).toMatchObject({
    ...{ status: 202, retryAfter: 2 },
    body: { error: expect.stringContaining('cannot be charged any more'), payment: { id, is_over: true } },
  })
  facilitator.settlements = []
  const anew = await pay({ until: until + 3_600 })
  const paid = (await answered(anew)).body
  expect(paid).toMatchObject({ message: 'Sure.', payment: { state: 'settled' } })
  expect((paid.payment as { id: string }).id).not.toBe(id)
  await expect.poll(shown).toMatchObject({ state: 'settled', usable_until: null, is_over: false })
})

solo('O62: a payment is shown after its session key is gone, and is carried out once it is sent again', async () => {
  facilitator.settlements = Array.from({ length: 100 }, () => 'TIMEOUT' as const)
  const until = Math.floor(Date.now() / 1_000) + 7_200
  const payment = await pay({ until })
  const first = await ask(payment)
  expect(refusalOf(first)).toBe('202 PAYMENT_PENDING')
  const { id } = first.body.payment as { id: string }
  const changed = (change: object) => Payments.updateOne({ _id: id }, change)
  await expect.poll(async () => (await stored())?.leased_until.getTime()).toBe(0)
  await changed({ $set: { proof: 'gone.AAAA', due_at: new Date(Date.now() + 3_600_000) } })
  const shown = async () => (await call(server.url, `GET /api/public/payments/${id}`)).body
  const open = { state: 'unknown', is_over: false }
  expect(await shown()).toMatchObject({ ...open, usable_until: new Date(until * 1_000).toISOString() })
  // Older versions did not store the end of a payment beside its proof.
  await changed({ $unset: { usable_until: '' } })
  expect(await shown()).toMatchObject({ ...open, usable_until: '9999-01-01T00:00:00.000Z' })
  await expect.poll(async () => refusalOf(await ask(payment))).toBe('202 PAYMENT_PENDING')
  facilitator.settlements = []
  server.setAhead(3_700)
  await expect.poll(shown).toMatchObject({ state: 'settled' })
  await expect.poll(async () => (await stored())?.leased_until.getTime()).toBe(0)
  expect((await answered(payment)).body).toMatchObject({ message: 'Sure.' })
  expect(facilitator.charged).toHaveLength(1)
})

solo('an answer is given again for an hour', async () => {
  const payment = await pay()
  const first = await answered(payment)
  server.setAhead(3_500)
  expect((await ask(payment)).body).toEqual(first.body)
  server.setAhead(3_700)
  expect(refusalOf(await ask(payment))).toBe('402 INVALID_PAYMENT')
  expect(await Runs.countDocuments({ agent_id: agent })).toBe(1)
})

solo('a payment that was refused is no claim on an agent that is not sold any more', async () => {
  facilitator.refuses = 'funds'
  const payment = await pay()
  expect(refusalOf(await ask(payment))).toBe('402 INSUFFICIENT_PAYMENT')
  await owner.does('rest', agents.update, { id: agent, x402Enabled: false })
  expect(refusalOf(await ask(payment))).toBe('400 X402_NOT_ENABLED')
})

solo('a payment that could not be checked and has expired since is refused, and nobody is asked about it', async () => {
  facilitator.away = 'TIMEOUT'
  const payment = await pay({ until: Math.floor(Date.now() / 1_000) + 60 })
  expect(refusalOf(await ask(payment))).toBe('504 TIMEOUT')
  facilitator.away = null
  server.setAhead(120)
  const { verify } = facilitator.asked
  expect(refusalOf(await ask(payment))).toBe('402 PAYMENT_EXPIRED')
  expect(facilitator.asked).toEqual({ verify, settle: 0 })
})

solo('what was settled nowhere is said to be so, in the answer and in what was earned', async () => {
  Object.assign(facilitator, { isSimulated: true })
  expect((await answered(await pay())).body).toMatchObject({ payment: { state: 'settled', simulated: true } })
  const { stats } = await owner.does('rest', payments.receipts, { id: agent })
  expect(stats).toMatchObject({ totalEarnings: 5, simulatedEarnings: 5 })
})

solo.each([false, true])(
  'a slot is taken while an answer is written, and free after it (as lines: %s)',
  async (stream) => {
    const asked = ask(await pay(), { stream })
    const question = await puppet.asked()
    expect(server.apps.map(({ node }) => slotsOf(node))).toContain(63)
    question.say('Sure.')
    question.end()
    await asked
  },
)

test('a slot is free again where nobody reads the lines', async () => {
  const gone = new AbortController()
  const asked = fetch(`${server.url}/api/public/agents/${agent}/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-payment': await pay() },
    body: JSON.stringify({ message: 'Hello?', stream: true }),
    signal: gone.signal,
  }).catch(() => null)
  const question = await puppet.asked()
  gone.abort()
  await asked
  for (const { node } of server.apps) await expect.poll(() => slotsOf(node)).toBe(64)
  question.end()
})
