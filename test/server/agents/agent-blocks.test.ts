// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { Runs } from '#server/domains/agents/runs/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { social } from '#shared/api/moderation/social'
import { payments } from '#shared/api/payments/payments'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { type Booted, boot } from '#test/support/boot'
import { paymentOf } from '#test/support/payments'
import { channelOf, outcomeOf, over, type Person, person, say } from '#test/support/people'
import { type PuppetAnswer, puppetModel } from '#test/support/puppet-model'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const puppet = puppetModel()
const facilitator = fakeFacilitator()
let server: Booted
let admin: Person
let made = 0

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppet.model, facilitator },
  })
  admin = await person(server, 'admin')
})
afterAll(() => server.close())
beforeEach(() => {
  Object.assign(facilitator, { charged: [], asked: { verify: 0, settle: 0 } })
})

const somebody = () => person(server, `somebody ${++made}`)
const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
const agentOf = async (owner: Person, more: object = {}) =>
  (await owner.does('rest', agents.create, { name: `Agent ${++made}`, visibility: 'public', ...price, ...more })).agent
const denied = '403 AGENT_PRIVATE'

/** How the person is answered at every door at which an agent is asked or shown. */
async function doors(who: Person, owner: Person, id: string): Promise<string[]> {
  const paid = { id, message: 'Hello?', payment: await paymentOf(wallet('payer'), { to: owner.account }) }
  const streamed = await who.rest(`POST /api/agents/${id}/chat`, { message: 'Hello?', stream: true })
  return [
    ...(await Promise.all(over.map(async (door) => outcomeOf(await who.tries(door, agents.get, { id }))))),
    outcomeOf(await who.tries('rest', agents.memberships, { id })),
    outcomeOf(await who.tries('rest', agents.addFavorite, { agentId: id })),
    outcomeOf(await who.tries('socket', agents.run, { agent_id: id, message: 'Hello?' })),
    outcomeOf(await who.tries('rest', agents.chat, { id, message: 'Hello?' })),
    outcomeOf(streamed),
    ...(await Promise.all(over.map(async (door) => outcomeOf(await who.tries(door, payments.chat, paid))))),
  ]
}
const refused = [...Array(7).fill(denied), ...Array(2).fill('403 AGENT_NOT_PUBLIC')]
const notOpen = async (who: Person) => expect(await Runs.countDocuments({ account: who.account })).toBe(0)

/** A run of the asker that is being written. */
async function begun(asker: Person, id: string): Promise<{ run_id: string; answer: PuppetAnswer }> {
  const { run_id } = await asker.does('socket', agents.run, { agent_id: id, message: 'Hello?' })
  return { run_id, answer: await puppet.asked() }
}
const stateOf = async (_id: string) => (await Runs.findOne({ _id }).lean())?.state

describe('T09: a block between two', () => {
  solo.each(['the owner', 'the asker'])(
    'by %s ends what either asks the agents of the other, at every door',
    async (by) => {
      const [owner, asker] = [await somebody(), await somebody()]
      const { id } = await agentOf(owner)
      const { id: theirs } = await agentOf(asker)
      const [blocker, blocked] = by === 'the owner' ? [owner, asker] : [asker, owner]
      await blocker.does('rest', social.block, { userAddress: blocked.account })
      expect(await doors(asker, owner, id)).toEqual(refused)
      expect(outcomeOf(await asker.tries('rest', agents.history, { id }))).toBe(denied)
      expect(await doors(owner, asker, theirs)).toEqual(refused)
      await notOpen(asker)
      await notOpen(owner)
      expect(facilitator.charged).toEqual([])
      await blocker.does('rest', social.unblock, { userAddress: blocked.account })
      const { answer } = await begun(asker, id)
      answer.say('Yes')
      answer.end()
    },
  )

  test('stops what is being answered, in both directions, and nothing else', async () => {
    const [owner, asker, other] = [await somebody(), await somebody(), await somebody()]
    const { id } = await agentOf(owner)
    const { id: theirs } = await agentOf(asker)
    const one = await begun(asker, id)
    const two = await begun(owner, theirs)
    const kept = await begun(other, id)
    const own = await begun(owner, id)
    await owner.does('rest', social.block, { userAddress: asker.account })
    for (const { run_id } of [one, two]) await expect.poll(() => stateOf(run_id)).toBe('cancelled')
    for (const { run_id, answer } of [kept, own]) {
      answer.say('Yes')
      answer.end()
      await expect.poll(() => stateOf(run_id)).toBe('done')
    }
  })

  solo('holds for mentions of an agent in a room', async () => {
    const asker = await somebody()
    const guide = await agentOf(admin, { visibility: 'official' })
    const room = await channelOf(asker)
    await admin.does('rest', agents.joinRoom, { id: guide.id, channelType: 'channel', channelId: room.id })
    await asker.does('rest', social.block, { userAddress: admin.account })
    await say(asker, room, `@[${guide.name}](${guide.id}) hello`)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(await Runs.countDocuments({ agent_id: guide.id })).toBe(0)
    await asker.does('rest', social.unblock, { userAddress: admin.account })
    await say(asker, room, `@[${guide.name}](${guide.id}) hello again`)
    const answer = await puppet.asked()
    answer.say('Hello.')
    answer.end()
    const said = async () =>
      (await asker.does('rest', messages.history, { room })).messages.map(({ content }) => content)
    await expect.poll(said).toContain('Hello.')
  })
})

describe('T09: the agents of who is suspended', () => {
  test('answer nobody at any door, and what they are answering is stopped; official ones are of the house', async () => {
    const [owner, asker] = [await somebody(), await somebody()]
    const { id } = await agentOf(owner)
    const { id: official } = await agentOf(owner)
    // As where its maker was an admin once.
    await Agents.updateOne({ _id: official }, { $set: { visibility: 'official' } })
    const open = await begun(asker, id)
    await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: true })
    await expect.poll(() => stateOf(open.run_id)).toBe('cancelled')
    expect(await doors(asker, owner, id)).toEqual(refused)
    expect((await call(server.url, `GET /api/public/agents/${id}`)).status).toBe(403)
    expect(facilitator.charged).toEqual([])
    const ofHouse = await begun(asker, official)
    ofHouse.answer.say('Yes')
    ofHouse.answer.end()
    await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: false })
    const { answer } = await begun(asker, id)
    answer.say('Yes')
    answer.end()
  })
})
