// Modes: embedded
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Earnings, neverExpires, Payments, type StoredPayment } from '#server/domains/payments/payments/model'
import { agents } from '#shared/api/agents/agents'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let owner: Person
let made = 0

beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open', SUPER_ADMINS: wallet('root').address } })
  // Admins may make as many agents as they like.
  owner = await person(server, 'root')
})
afterAll(() => server.close())

const sold = async () => (await owner.does('rest', agents.create, { name: `Agent ${++made}` })).agent.id

const minute = 60_000
/** The most that counts of one payment. */
const most = 1_000_000_000n
/** A payment as it is stored, made in this order; it is settled so many minutes ago, or not. */
function paymentOf(agent: string, ago: number | null, more: Partial<StoredPayment> = {}): StoredPayment {
  const number = String(++made).padStart(12, '0')
  const text = { pay_to: '0x0' as const, proof_hash: '-', question_hash: '-', proof: '-', resource: '-', holder: '-' }
  const asked = {
    payer: '0x0' as const,
    nonce: `0x${number}` as const,
    description: '',
    session_id: '-',
    code: null,
    transaction: null,
  }
  const answer = {
    attempts: 1,
    answers: 1,
    run_id: null,
    message_id: null,
    leased_until: new Date(0),
    due_at: neverExpires,
  }
  const when = { expires_at: neverExpires, created_at: new Date(made) }
  const state = ago === null ? ('unknown' as const) : ('settled' as const)
  const settled_at = ago === null ? null : new Date(Date.now() - ago * minute)
  const worth = { network: 'base' as const, agent_id: agent, value: '12345', simulated: false }
  return { _id: `payment-${number}`, ...text, ...asked, ...answer, ...when, ...worth, state, settled_at, ...more }
}
const many = (count: number, each: (at: number) => StoredPayment) => Array.from({ length: count }, (_, at) => each(at))
const statsOf = async (agent: string, url = server.url) =>
  (await call(url, `GET /api/agents/${agent}/payments`, null, owner.token)).body.stats
const settle = (id: string, ago: number) =>
  Payments.updateOne({ _id: id }, { $set: { state: 'settled', settled_at: new Date(Date.now() - ago * minute) } })

test(
  'earnings are the plain sum, in whatever order payments are made and settled, read by every node at once',
  heavy,
  async () => {
    const payment = fc.record({
      value: fc.bigInt(0n, most),
      ago: fc.nat(60),
      isLate: fc.nat(9).map((drawn) => drawn === 0),
    })
    const history = fc.array(payment, { minLength: 250, maxLength: 450 })
    await fc.assert(
      fc.asyncProperty(history, async (given) => {
        const agent = await sold()
        const stored = given.map(({ value, ago, isLate }) => ({
          isLate,
          row: paymentOf(agent, isLate ? null : 20 + ago, { value: String(value), simulated: value % 2n === 0n }),
        }))
        await Payments.insertMany(stored.map(({ row }) => row))
        const readers = [...server.urls, ...server.urls, ...server.urls]
        await Promise.all(readers.map((url) => statsOf(agent, url)))
        // What is settled now is told in any order, and read meanwhile.
        const late = stored.filter(({ isLate }) => isLate).reverse()
        await Promise.all([
          ...late.map(({ row }, at) => settle(row._id, at % 3)),
          ...readers.map((url) => statsOf(agent, url)),
        ])
        const sum = given.reduce((total, { value }) => total + value, 0n)
        const simulated = given.reduce((total, { value }) => total + (value % 2n === 0n ? value : 0n), 0n)
        const stats = await Promise.all(readers.map((url) => statsOf(agent, url)))
        for (const each of stats)
          expect(each).toMatchObject({
            paidMessages: given.length,
            totalEarnings: Number(sum / 10_000n),
            simulatedEarnings: Number(simulated / 10_000n),
          })
      }),
      { numRuns: 6, endOnFailure: true },
    )
  },
)

test('what an agent has earned long ago is not read again', async () => {
  const agent = await sold()
  await Payments.insertMany(many(450, (at) => paymentOf(agent, 60 - at / 100)))
  const before = await statsOf(agent)
  expect(before).toMatchObject({ paidMessages: 450, totalEarnings: 555 })
  const { deletedCount } = await Payments.deleteMany({
    agent_id: agent,
    settled_at: { $lt: new Date(Date.now() - 57 * minute) },
  })
  expect(deletedCount).toBeGreaterThan(200)
  const { payments: summed = 0 } = (await Earnings.findOne({ _id: agent }).lean()) ?? {}
  expect(summed).toBe(400)
  expect(await statsOf(agent)).toEqual(before)
})

test('a payment of unknown fate counts when it settles, however many have settled before', async () => {
  const agent = await sold()
  const first = paymentOf(agent, null)
  await Payments.insertMany([first, ...many(250, () => paymentOf(agent, 30))])
  expect(await statsOf(agent)).toMatchObject({ paidMessages: 250 })
  expect(await Earnings.countDocuments({ _id: agent })).toBe(1)
  await settle(first._id, 0)
  expect(await statsOf(agent)).toMatchObject({ paidMessages: 251 })
})

test('a payment that a node stores late, or by a clock that is slow, is counted', async () => {
  const agent = await sold()
  await Payments.insertMany(many(450, (at) => paymentOf(agent, at < 210 ? 11 : 1)))
  await statsOf(agent)
  await Payments.create(paymentOf(agent, 9))
  expect(await statsOf(agent)).toMatchObject({ paidMessages: 451 })
})

test('payments that were settled at one moment are counted once each', async () => {
  const agent = await sold()
  const settled_at = new Date(Date.now() - 30 * minute)
  await Payments.insertMany(many(401, () => paymentOf(agent, 30, { settled_at })))
  for (let time = 0; time < 3; time++) expect(await statsOf(agent)).toMatchObject({ paidMessages: 401 })
})

test('what was earned is exact beyond the numbers that are', async () => {
  const agent = await sold()
  await Payments.insertMany(many(200, () => paymentOf(agent, 30)))
  await statsOf(agent)
  const almost = '90071992547390069999'
  await Earnings.updateOne({ _id: agent }, { $set: { units: almost, simulated: almost } })
  await Payments.create(paymentOf(agent, 20, { value: '1', simulated: true }))
  const cents = 9_007_199_254_739_007
  expect(await statsOf(agent)).toMatchObject({ totalEarnings: cents, simulatedEarnings: cents })
})
