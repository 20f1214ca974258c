// Modes: embedded
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { Payments } from '#server/domains/payments/payments/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { askPublic, paymentOf } from '#test/support/payments'
import { outcomeOf, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { wallet } from '#test/support/wallet'

/** Paid questions that one address may have at a time on a node. */
const places = 64

const puppet = puppetModel()
const facilitator = fakeFacilitator()
const payer = wallet('payer')
let server: Booted
let owner: Person
let agent: string

beforeAll(async () => {
  server = await boot({ nodes: 1, environment: { BETA: 'open' }, services: { model: puppet.model, facilitator } })
  owner = await person(server, 'seller')
  agent = await soldBy(owner)
})
afterAll(() => server.close())
beforeEach(() => {
  Object.assign(facilitator, {
    charged: [],
    asked: { verify: 0, settle: 0 },
    settlements: [],
    meanwhile: () => undefined,
  })
})

const soldBy = async (seller: Person) => {
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  return (await seller.does('rest', agents.create, { name: 'Sold', visibility: 'public', ...price })).agent.id
}

interface Leaving {
  lines: Promise<string>
  leave(): void
}

async function stream(more = {}): Promise<Leaving> {
  const payment = await paymentOf(payer, { to: owner.account, ...more })
  const end = new AbortController()
  const lines = fetch(`${server.url}/api/public/agents/${agent}/chat?stream=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-payment': payment },
    body: JSON.stringify({ message: 'Hello?' }),
    signal: end.signal,
  }).then(
    async (answer) => `${answer.status} ${await answer.text().catch(() => 'left')}`,
    () => 'left',
  )
  return { lines, leave: () => end.abort() }
}
const asMany = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: places }, make))

const ways: [how: string, end: () => Promise<void>][] = [
  [
    'answered',
    async () => {
      const asked = await asMany(() => stream())
      for (const _ of asked) {
        const question = await puppet.asked()
        question.say('Yes.')
        question.end()
      }
      for (const { lines } of asked) expect(await lines).toMatch(/^200 .*"done"/s)
    },
  ],
  [
    'failed',
    async () => {
      const asked = await asMany(() => stream())
      for (const _ of asked) (await puppet.asked()).fail(new Error('The model is lost'))
      for (const { lines } of asked) expect(await lines).toMatch(/^200 .*"error"/s)
    },
  ],
  [
    'left in the middle',
    async () => {
      const asked = await asMany(() => stream())
      for (const _ of asked) (await puppet.asked()).say('Yes ')
      for (const { leave } of asked) leave()
      await Promise.all(asked.map(({ lines }) => lines))
    },
  ],
  [
    'left before the first line',
    async () => {
      let settle: () => void = () => undefined
      const settled = new Promise<void>((resolve) => {
        settle = resolve
      })
      facilitator.meanwhile = () => settled
      const asked = await asMany(() => stream())
      await expect.poll(() => facilitator.asked.settle).toBe(places)
      for (const { leave } of asked) leave()
      await Promise.all(asked.map(({ lines }) => lines))
      settle()
      for (const _ of asked) (await puppet.asked()).end()
    },
  ],
  [
    'left with the socket that asked, while all other places are taken',
    async () => {
      const others = await Promise.all(Array.from({ length: places - 1 }, () => stream()))
      onTestFinished(() => {
        for (const { leave } of others) leave()
      })
      const line = await owner.socket('/agents')
      const payment = await paymentOf(payer, { to: owner.account })
      const asked = owner.tries(line, payments.chatStream, { id: agent, message: 'Hello?', payment })
      for (let one = 0; one < places; one++) (await puppet.asked()).say('Yes ')
      expect(outcomeOf(await asked)).toBe('200')
      expect(await (await stream()).lines).toContain('RATE_LIMIT_EXCEEDED')
      line.socket.disconnect()
    },
  ],
  [
    'refused',
    async () => {
      const asked = await asMany(() => stream({ value: '1' }))
      for (const { lines } of asked) expect(await lines).toContain('402')
    },
  ],
]

test('a payment is not taken where no model could answer', async () => {
  const seller = await person(server, 'another seller')
  const id = await soldBy(seller)
  const setModel = (model: typeof puppet.model | null) => {
    for (const { node } of server.apps) Object.assign(node.services, { model })
  }
  setModel(null)
  onTestFinished(() => setModel(puppet.model))
  for (const streamed of [true, false]) {
    const payment = await paymentOf(payer, { to: seller.account })
    const { status, code } = await askPublic(server.url, id, 'Hello?', payment, { stream: streamed })
    expect(outcomeOf({ status, code })).toBe('503 SERVICE_UNAVAILABLE')
  }
  const payment = await paymentOf(payer, { to: seller.account })
  const refusal = await seller.refused('socket', payments.chat, { id, message: 'Hello?', payment })
  expect(refusal).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })
  expect(await Payments.countDocuments({ agent_id: id })).toBe(0)
})

test.each(ways)('T31: the places of streams that are %s are given back', heavy, async (_how, end) => {
  await end()
  let next = ''
  const answering = puppet.asked().then((question) => {
    question.say('There is a place.')
    question.end()
  })
  await expect
    .poll(async () => {
      const { lines } = await stream()
      next = await lines
      return next
    })
    .toContain('There is a place.')
  await answering
})

test('T31: more questions at once than there are places are refused before they are charged', heavy, async () => {
  const asked = await asMany(() => stream())
  const answers = await Promise.all(asked.map(() => puppet.asked()))
  expect(await (await stream()).lines).toContain('RATE_LIMIT_EXCEEDED')
  expect(facilitator.charged).toHaveLength(places)
  for (const answer of answers) answer.end()
  await Promise.all(asked.map(({ lines }) => lines))
})
