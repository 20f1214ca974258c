// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Runs } from '#server/domains/agents/runs/model'
import { fakeChain } from '#server/ports/chain/fake'
import type { AuthorizedTransfer } from '#server/ports/chain/port'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { type Booted, boot } from '#test/support/boot'
import { askPublic, paymentOf } from '#test/support/payments'
import { outcomeOf, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { call, wallet } from '#test/support/wallet'

const puppet = puppetModel()
const facilitator = fakeFacilitator()
const chain = fakeChain(84_532)
const payer = wallet('payer')
const transaction = `0x${'7a'.repeat(32)}` as const
let server: Booted
let owner: Person
let agent: string
let made = 0

beforeAll(async () => {
  const services = { model: puppet.model, facilitator, chains: new Map([[chain.id, chain]]) }
  server = await boot({ environment: { BETA: 'open' }, services })
})
afterAll(() => server.close())
beforeEach(async () => {
  chain.newestAt = 0
  Object.assign(facilitator, { charged: [], asked: { verify: 0, settle: 0 }, settlements: ['TIMEOUT'] })
  owner = await person(server, `seller ${++made}`)
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  agent = (await owner.does('rest', agents.create, { name: 'Sold', visibility: 'public', ...price })).agent.id
})

const transferOf = (header: string): AuthorizedTransfer => {
  const { from, to, value, nonce } = JSON.parse(Buffer.from(header, 'base64').toString()).payload.authorization
  return { from, to, value: BigInt(value), nonce }
}
/** Asks with a payment whose settlement is not answered, after what is done on the chain meanwhile; gives the handle. */
async function unanswered(payment: string, onChain: () => void): Promise<string> {
  facilitator.meanwhile = onChain
  const answer = await askPublic(server.url, agent, 'Hello?', payment)
  facilitator.meanwhile = () => undefined
  expect(outcomeOf(answer)).toBe('202 PAYMENT_PENDING')
  return (answer.body.payment as { id: string }).id
}
const stateOf = async (id: string) => (await call(server.url, `GET /api/public/payments/${id}`)).body

describe('a settlement without an answer is looked up on the chain', () => {
  test('where it was carried out it is settled, and the facilitator is not asked again', async () => {
    const payment = await paymentOf(payer, { to: owner.account })
    const id = await unanswered(payment, () => chain.authorize(transferOf(payment), transaction))
    await expect.poll(() => stateOf(id)).toMatchObject({ state: 'settled', transaction })
    expect(facilitator.asked.settle).toBe(1)
    const asked = askPublic(server.url, agent, 'Hello?', payment)
    const question = await puppet.asked()
    question.say('Yes.')
    question.end()
    expect((await asked).body).toMatchObject({ message: 'Yes.', payment: { transaction } })
  })

  test('where the authorization was used for another transfer nothing was bought', async () => {
    const payment = await paymentOf(payer, { to: owner.account })
    const elsewhere = { ...transferOf(payment), to: payer.address }
    const id = await unanswered(payment, () => chain.authorize(elsewhere, transaction))
    await expect
      .poll(() => stateOf(id))
      .toMatchObject({ state: 'rejected', code: 'INVALID_PAYMENT', transaction: null })
    expect(outcomeOf(await askPublic(server.url, agent, 'Hello?', payment))).toBe('402 INVALID_PAYMENT')
    expect(await Runs.countDocuments({ agent_id: agent })).toBe(0)
    expect((await owner.does('rest', payments.receipts, { id: agent })).stats).toMatchObject({ paidMessages: 0 })
  })

  test('where it was never carried out it is tried again, until it is over', async () => {
    facilitator.settlements = Array.from({ length: 50 }, () => 'TIMEOUT' as const)
    const until = Math.floor(Date.now() / 1000) + 60
    const id = await unanswered(await paymentOf(payer, { to: owner.account, until }), () => undefined)
    await expect.poll(() => facilitator.asked.settle).toBeGreaterThan(1)
    expect(await stateOf(id)).toMatchObject({ state: 'unknown' })
    server.setAhead(150)
    const { settle } = facilitator.asked
    await expect.poll(() => facilitator.asked.settle).toBeGreaterThan(settle)
    expect(await stateOf(id)).toMatchObject({ state: 'unknown' })
    chain.newestAt = (until - 1) * 1_000
    server.setAhead(600)
    const asked = facilitator.asked.settle
    await expect.poll(() => facilitator.asked.settle).toBeGreaterThan(asked)
    expect(await stateOf(id)).toMatchObject({ state: 'unknown', is_over: false })
    server.setAhead(4_000)
    expect(await stateOf(id)).toMatchObject({ state: 'unknown', is_over: true })
    // Only now the chain is past the end of the payment as well.
    chain.newestAt = until * 1_000
    server.setAhead(8_000)
    await expect.poll(() => stateOf(id)).toMatchObject({ state: 'rejected', code: 'PAYMENT_EXPIRED' })
    server.setAhead(0)
    expect(facilitator.charged).toEqual([])
  })
})
