// Modes: embedded
import { expect, onTestFinished, test } from 'vitest'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { localFacilitator } from '#server/ports/facilitator/local'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { askPublic, paymentOf } from '#test/support/payments'
import { outcomeOf, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { call, wallet } from '#test/support/wallet'

const puppet = puppetModel()
const payer = wallet('payer')

test.each([
  ['without a facilitator nothing is sold, and the price says that it cannot be paid', null, 'base-sepolia'],
  ['by a simulated one nothing is sold for real money, and the price says so', localFacilitator, 'base'],
] as const)('%s', async (_what, facilitator, network) => {
  const services = { model: puppet.model, facilitator }
  const other = await boot({ nodes: 1, environment: { BETA: 'open' }, services })
  onTestFinished(() => other.close())
  const seller = await person(other, 'seller')
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: network }
  const given = { name: 'Sold', visibility: 'public' as const, ...price }
  const { id } = (await seller.does('rest', agents.create, given)).agent
  const payment = await paymentOf(payer, { to: seller.account, network })
  for (const header of [undefined, payment, 'nonsense']) {
    const answer = await askPublic(other.url, id, 'Hello?', header)
    expect(outcomeOf(answer)).toBe('503 SERVICE_UNAVAILABLE')
    expect(JSON.stringify(answer.body)).not.toContain('accepts')
  }
  const asked = await seller.tries('socket', payments.chat, { id, message: 'Hello?' })
  expect(outcomeOf(asked)).toBe('503 SERVICE_UNAVAILABLE')
  const pricing = { priceCents: 5, network, payable: false, simulated: false }
  for (const door of ['rest', 'socket'] as const) {
    expect(await seller.does(door, payments.info, { id })).toMatchObject({ pricing: { enabled: true, ...pricing } })
    expect(await seller.does(door, payments.embed, { id })).toMatchObject({ pricing })
    expect(await seller.does(door, payments.agent, { id })).toMatchObject({ x402_enabled: true, x402_simulated: false })
  }
})

test('a simulated facilitator answers for test money, and says so', async () => {
  const other = await boot({ nodes: 1, environment: { BETA: 'open' }, services: { model: puppet.model } })
  onTestFinished(() => other.close())
  const seller = await person(other, 'seller')
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  const given = { name: 'Sold', visibility: 'public' as const, ...price }
  const { id } = (await seller.does('rest', agents.create, given)).agent
  expect((await call(other.url, `GET /api/public/agents/${id}`)).body).toMatchObject({
    x402_simulated: true,
    scripted: true,
  })
  const asked = askPublic(other.url, id, 'Hello?', await paymentOf(payer, { to: seller.account }))
  const question = await puppet.asked()
  question.say('Yes.')
  question.end()
  expect((await asked).body).toMatchObject({ payment: { simulated: true, transaction: null, state: 'settled' } })
  const { stats } = await seller.does('rest', payments.receipts, { id })
  expect(stats).toMatchObject({ paidMessages: 1, totalEarnings: 5, simulatedEarnings: 5 })
})

test('nothing is charged where no model is configured, and the payment is good where there is one', heavy, async () => {
  const facilitator = fakeFacilitator()
  const other = await boot({ nodes: 1, environment: { BETA: 'open' }, services: { model: puppet.model, facilitator } })
  onTestFinished(() => other.close())
  const seller = await person(other, 'seller')
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  const given = { name: 'Sold', visibility: 'public' as const, ...price }
  const { id } = (await seller.does('rest', agents.create, given)).agent
  const payment = await paymentOf(payer, { to: seller.account })
  for (const { node } of other.apps) Object.assign(node.services, { model: null })
  expect(outcomeOf(await askPublic(other.url, id, 'Hello?', payment))).toBe('503 SERVICE_UNAVAILABLE')
  expect(facilitator).toMatchObject({ charged: [], asked: { verify: 0, settle: 0 } })
  for (const { node } of other.apps) Object.assign(node.services, { model: puppet.model })
  const asked = askPublic(other.url, id, 'Hello?', payment)
  const question = await puppet.asked()
  question.say('Yes.')
  question.end()
  expect((await asked).body).toMatchObject({ message: 'Yes.' })
  expect(facilitator.charged).toHaveLength(1)
})
