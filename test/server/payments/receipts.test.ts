// Modes: embedded
import { getAddress, keccak256, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Payments } from '#server/domains/payments/payments/model'
import { Accounts } from '#server/domains/people/accounts/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { askPublic, paymentOf } from '#test/support/payments'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { call, wallet } from '#test/support/wallet'

const puppet = puppetModel()
const facilitator = fakeFacilitator()
const payer = wallet('payer')
let server: Booted
let owner: Person
let made = 0

beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' }, services: { model: puppet.model, facilitator } })
})
afterAll(() => server.close())
beforeEach(async () => {
  Object.assign(facilitator, { charged: [], asked: { verify: 0, settle: 0 }, refuses: null, settlements: [] })
  owner = await person(server, `seller ${++made}`)
})

const sold = async (more: object = {}) => {
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  const given = { name: `Agent ${++made}`, visibility: 'public' as const, ...price, ...more }
  return (await owner.does('rest', agents.create, given)).agent.id
}
/** Asks and lets the model answer; the receipt of it. */
async function paid(agent: string, value = '50000'): Promise<string> {
  const asked = askPublic(server.url, agent, `Question ${++made}`, await paymentOf(payer, { to: owner.account, value }))
  const question = await puppet.asked()
  question.say('Sure.')
  question.end()
  const { status, body } = await asked
  expect(status).toBe(200)
  return (body.payment as { id: string }).id
}
const payeeOf = async (agent: string) => (await askPublic(server.url, agent, 'Hello?')).body

describe.each(over)('the receipts of an agent, over %s', (door) => {
  test('are of that agent alone, newest first, each on one page, and of nothing that was refused', async () => {
    const [agent, other] = [await sold(), await sold()]
    const ids: string[] = []
    for (let time = 0; time < 3; time++) ids.unshift(await paid(agent))
    await paid(other)
    facilitator.settlements = [{ state: 'refused', reason: 'failed' }]
    expect(outcomeOf(await askPublic(server.url, agent, 'No', await paymentOf(payer, { to: owner.account })))).toBe(
      '402 X402_PAYMENT_FAILED',
    )
    const read = async (more: object) =>
      (await owner.does(door, payments.receipts, { id: agent, ...more })).receipts.map(({ id }) => id)
    expect(await read({})).toEqual(ids)
    expect(await read({ limit: 2 })).toEqual(ids.slice(0, 2))
    expect(await read({ limit: 2, before: ids[1] })).toEqual(ids.slice(2))
    expect(await read({ before: ids[2] })).toEqual([])
    for (const before of ['zzz', agent, await paid(other)])
      expect(await owner.refused(door, payments.receipts, { id: agent, before })).toMatchObject({
        status: 400,
        code: 'INVALID_PARAMETER',
      })
  })

  test('are summed up by what was settled, in the smallest unit', async () => {
    const agent = await sold()
    for (const value of ['55000', '55000', '59999']) await paid(agent, value)
    const stats = async () => (await owner.does(door, payments.receipts, { id: agent })).stats
    expect(await stats()).toMatchObject({ paidMessages: 3, totalEarnings: 16, simulatedEarnings: 0 })
    facilitator.settlements = Array(50).fill('TIMEOUT')
    const unknown = await askPublic(server.url, agent, 'Is it?', await paymentOf(payer, { to: owner.account }))
    expect(outcomeOf(unknown)).toBe('202 PAYMENT_PENDING')
    expect(await stats()).toMatchObject({ paidMessages: 3, totalEarnings: 16 })
    const { receipts } = await owner.does(door, payments.receipts, { id: agent })
    expect(receipts.map(({ state }) => state)).toEqual(['unknown', 'settled', 'settled', 'settled'])
  })
})

const most = 2n ** 256n - 1n

test.each(over)(
  'earnings count each payment up to the most that can be paid, whatever is stored, over %s',
  async (door) => {
    const agent = await sold({ personality: 'Is sold' })
    await paid(agent)
    const stored = await paid(agent)
    await Payments.updateOne({ _id: stored }, { $set: { value: String(most), simulated: true } })
    const counted = { totalEarnings: 100_005, simulatedEarnings: 100_000, paidMessages: 2 }
    const { receipts, stats } = await owner.does(door, payments.receipts, { id: agent })
    expect(stats).toMatchObject(counted)
    expect(receipts.map(({ cents }) => cents)).toEqual([100_000, 5])
    expect((await owner.does(door, payments.embed, { id: agent })).stats).toMatchObject(counted)
    const earned = { x402_total_earnings_cents: 100_005, x402_message_count_paid: 2 }
    expect((await owner.does(door, agents.get, { id: agent })).agent).toMatchObject({
      personality: 'Is sold',
      ...earned,
    })
    const changed = await owner.does(door, agents.update, { id: agent, personality: 'Is changed' })
    expect(changed.agent).toMatchObject({ personality: 'Is changed', ...earned })
  },
)

test.each(over)(
  'T30: a payment of more than ten times the price is refused, and charged to nobody, over %s',
  async (door) => {
    const agent = await sold()
    const asker = await person(server, 'somebody who pays')
    // The payments of before of which nothing is known may be settled meanwhile.
    const nonces: string[] = []
    for (const value of [500_001n, most]) {
      const nonce = keccak256(toHex(`absurd ${door} ${value}`))
      nonces.push(nonce)
      const payment = await paymentOf(payer, { to: owner.account, value: String(value), nonce })
      const refused = await asker.refused(door, payments.chat, { id: agent, message: 'Hello?', payment })
      expect(refused).toMatchObject({ status: 402, code: 'INVALID_PAYMENT' })
    }
    expect(facilitator.asked.verify).toBe(0)
    expect(facilitator.charged.filter((nonce) => nonces.includes(nonce))).toEqual([])
    await paid(agent, '500000')
    expect((await owner.does(door, payments.receipts, { id: agent })).stats).toMatchObject({ totalEarnings: 50 })
  },
)

describe('what is paid for an answer goes', () => {
  test('to the wallet that the agent names, else to that of its owner', async () => {
    const named = wallet('another wallet').address.toLowerCase()
    expect(await payeeOf(await sold({ x402WalletAddress: named }))).toMatchObject({ accepts: [{ payTo: named }] })
    expect(await payeeOf(await sold())).toMatchObject({ accepts: [{ payTo: owner.account }] })
  })

  test('to the smart account of who has no wallet, and is asked of nobody where there is none', async () => {
    const agent = await sold()
    await Accounts.updateOne({ _id: owner.account }, { $set: { wallet_type: 'passkey' } })
    expect(outcomeOf(await askPublic(server.url, agent, 'Hello?'))).toBe('400 X402_NOT_ENABLED')
    const smart = wallet('a smart account').address.toLowerCase()
    const profile = { smart_wallet_profile: 'safe', smart_wallet_credential_id: 'one' }
    await Accounts.updateOne({ _id: owner.account }, { $set: { smart_wallet_address: smart, ...profile } })
    expect(await payeeOf(agent)).toMatchObject({ accepts: [{ payTo: getAddress(smart) }] })
  })
})

test('a payment is no claim on another agent that is not sold', async () => {
  const [agent, other] = [await sold(), await sold()]
  const payment = await paymentOf(payer, { to: owner.account })
  const asked = askPublic(server.url, agent, 'Hello?', payment)
  ;(await puppet.asked()).fail(new AppError('RUN_LOST'))
  await asked
  await owner.does('rest', agents.update, { id: other, x402Enabled: false })
  expect(outcomeOf(await askPublic(server.url, other, 'Hello?', payment))).toBe('400 X402_NOT_ENABLED')
})

test('the history of a session has no answer that failed without a word', async () => {
  const agent = await sold()
  const sessionId = crypto.randomUUID()
  const asked = askPublic(server.url, agent, 'Hello?', await paymentOf(payer, { to: owner.account }), { sessionId })
  ;(await puppet.asked()).fail(new AppError('RUN_LOST'))
  await asked
  const history = () => call(server.url, `GET /api/public/agents/${agent}/history?sessionId=${sessionId}`)
  await expect.poll(async () => (await history()).body.messages).toEqual([{ role: 'user', content: 'Hello?' }])
})
