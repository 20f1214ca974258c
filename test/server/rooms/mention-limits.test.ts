// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentMemberships } from '#server/domains/agents/agent-rooms/model'
import { Runs } from '#server/domains/agents/runs/model'
import type { Model } from '#server/ports/model/port'
import { agentWriting } from '#shared/api/agents/agent-rooms'
import { agents } from '#shared/api/agents/agents'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, listenTo, moderates, over, type Person, person, say } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const model: Model = {
  name: 'brief',
  isScripted: true,
  async *answer() {
    yield { type: 'text', text: 'Yes indeed.' }
    yield { type: 'end', reason: 'stop', inputTokens: 1, outputTokens: 1 }
  },
}
let server: Booted
let alice: Person
let admin: Person
let made = 0

beforeAll(async () => {
  server = await boot({
    // As in a server in use; only the tiers of calls are wider.
    environment: { ADMINS: wallet('admin').address, BETA: 'open', RATE_LIMIT_SCALE: '1' },
    services: { model },
    change: (platform) => ({
      ...platform,
      kv: {
        ...platform.kv,
        slide: (key, limit, ...rest) =>
          platform.kv.slide(key, key.startsWith('throttle:') ? limit : limit * 100, ...rest),
      },
    }),
  })
  alice = await person(server, 'alice')
  admin = await person(server, 'admin')
})
afterAll(() => server.close())

async function guideIn(room: RoomRef & { id: string }) {
  const { agent } = await admin.does('rest', agents.create, { name: `Guide ${++made}`, visibility: 'official' })
  await admin.does('rest', agents.joinRoom, { id: agent.id, channelType: 'channel', channelId: room.id })
  return { ...agent, mention: `@[${agent.name}](${agent.id})` }
}
const answersIn = async (room: RoomRef) =>
  (await alice.does('rest', messages.history, { room, limit: 100 })).messages.filter(({ sender_address }) =>
    sender_address.startsWith('agent:'),
  )
const runsOf = (...ids: string[]) => Runs.countDocuments({ agent_id: { $in: ids } })
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 800))

describe('mentions of agents', () => {
  test('T65: in one message are answered by three of them', async () => {
    const room = await channelOf(alice)
    const guides = [await guideIn(room), await guideIn(room), await guideIn(room), await guideIn(room)]
    await say(alice, room, guides.map(({ mention }) => mention).join(' and '))
    await expect.poll(async () => (await answersIn(room)).length).toBe(3)
    await aWhile()
    expect(await runsOf(...guides.map(({ id }) => id))).toBe(3)
  })

  test('T65: by one person are answered ten a minute, and sixty of one agent by all', heavy, async () => {
    const bob = await person(server, 'bob')
    const room = await channelOf(alice, bob)
    const guide = await guideIn(room)
    for (let at = 0; at < 12; at++) await say(bob, room, `${guide.mention} ${at}`)
    await expect.poll(async () => (await answersIn(room)).length, { timeout: 20_000 }).toBe(10)
    await aWhile()
    expect(await runsOf(guide.id)).toBe(10)
    // Without Redis each node counts for itself.
    const fill = async (most: number) => {
      for (const { node } of server.apps) while (await node.limits.throttle('mentions-of', guide.id, most, 60));
    }
    await fill(59)
    const [one, other] = [await person(server, 'one'), await person(server, 'other')]
    for (const who of [one, other]) await who.does('rest', rooms.join, { room })
    await say(one, room, `${guide.mention} the last`)
    await expect.poll(() => runsOf(guide.id)).toBe(11)
    await fill(60)
    await say(other, room, `${guide.mention} one more`)
    await aWhile()
    expect(await runsOf(guide.id)).toBe(11)
  })

  test('in slow mode are all answered, one after the other', heavy, async () => {
    const room = await channelOf(alice)
    const [guide, other] = [await guideIn(room), await person(server, 'another person')]
    await other.does('rest', rooms.join, { room })
    await moderates(alice, { room, action: 'rules', patch: { rules: { slow_mode_seconds: 5 } } })
    await say(other, room, `${guide.mention} one`)
    await say(alice, room, `${guide.mention} two`)
    await expect.poll(async () => (await answersIn(room)).length).toBe(1)
    // Asked while the agent has to wait before it may write.
    await say(alice, room, `${guide.mention} three`)
    await expect.poll(async () => (await answersIn(room)).length, { timeout: 30_000 }).toBe(3)
    expect((await answersIn(room)).map(({ content }) => content)).toEqual(Array(3).fill('Yes indeed.'))
  })

  test('tell the room when the agent has written', async () => {
    const room = await channelOf(alice)
    const guide = await guideIn(room)
    const line = await listenTo(alice, room)
    await say(alice, room, guide.mention)
    await line.hears(agentWriting, ({ agent, state }) => agent.id === guide.id && state === 'ended')
  })
})

describe('an agent that was brought into a room', () => {
  test.each(over)('and is not official any more is not listed there, and answers nobody, over %s', async (door) => {
    const room = await channelOf(alice)
    const guide = await guideIn(room)
    await admin.does(door, agents.update, { id: guide.id, visibility: 'private' })
    expect((await alice.does(door, agents.inRoom, { id: room.id })).agents).toEqual([])
    await say(alice, room, `${guide.mention} hello`)
    await aWhile()
    expect(await runsOf(guide.id)).toBe(0)
    await admin.does(door, agents.update, { id: guide.id, visibility: 'official' })
    expect((await alice.does(door, agents.inRoom, { id: room.id })).agents).toMatchObject([{ id: guide.id }])
  })

  test('and is deleted is no member of it', async () => {
    const room = await channelOf(alice)
    const guide = await guideIn(room)
    await admin.does('rest', agents.remove, { id: guide.id })
    await expect.poll(() => AgentMemberships.countDocuments({ agent_id: guide.id })).toBe(0)
    const members = async () =>
      (await alice.does('rest', rooms.members, { room })).members.map(({ user_address }) => user_address)
    await expect.poll(members).toEqual([alice.account])
  })

  test.each(over)('tells who is banned from it nothing of that room, over %s', async (door) => {
    const room = await channelOf(alice)
    const guide = await guideIn(room)
    const banned = await person(server, `banned over ${door}`)
    await banned.does('rest', rooms.join, { room })
    expect((await banned.does(door, agents.memberships, { id: guide.id })).memberships).toHaveLength(1)
    await moderates(alice, { room, action: 'ban', target: banned.account, reason: 'Spam' })
    expect((await banned.does(door, agents.memberships, { id: guide.id })).memberships).toEqual([])
  })
})
