// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Writing } from '#client/sdk/types'
import { heardWord } from '#client/sdk/writing'
import { AgentMemberships } from '#server/domains/agents/agent-rooms/model'
import { Runs } from '#server/domains/agents/runs/model'
import { ensureOfficial } from '#server/domains/rooms/rooms/alpha'
import { agentWriting } from '#shared/api/agents/agent-rooms'
import { agents } from '#shared/api/agents/agents'
import { serviceTokens } from '#shared/api/people/service-tokens'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { alpha, channelOf, listenTo, moderates, outcomeOf, over, type Person, person, say } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const puppet = puppetModel()
let server: Booted
let alice: Person
let bob: Person
let admin: Person
let made = 0

beforeAll(async () => {
  server = await boot({
    entry: 'in alpha',
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppet.model },
  })
  alice = await person(server, 'alice')
  bob = await person(server, 'bob')
  admin = await person(server, 'admin')
})
afterAll(() => server.close())

/** A channel of Alice's with Bob in it, and an official agent that answers there. */
async function roomWithAgent() {
  const room = await channelOf(alice, bob)
  const { agent } = await admin.does('rest', agents.create, { name: `Guide ${++made}`, visibility: 'official' })
  const { membership } = await admin.does('rest', agents.joinRoom, {
    id: agent.id,
    channelType: 'channel',
    channelId: room.id,
  })
  return { room, agent, membership, mention: `@[${agent.name}](${agent.id})` }
}

const messagesIn = async (room: RoomRef) =>
  (await alice.does('rest', messages.history, { room })).messages.map(({ content, sender_address, reply_to }) => ({
    content,
    sender_address,
    reply_to: reply_to?.id ?? null,
  }))

describe('an agent in a room', () => {
  test('answers who mentions it, word by word before everybody and then as one message of its own', async () => {
    const { room, agent, mention } = await roomWithAgent()
    const line = await listenTo(bob, room)
    const asked = await say(alice, room, `${mention} what is this?`)
    const answer = await puppet.asked()
    expect(answer.question.turns.at(-1)?.content).toContain(`@${agent.name} what is this?`)
    answer.say('A room ', 'for ')
    answer.say('everybody')
    answer.end()
    const event = await line.follows(
      room,
      ({ type, data }) =>
        type === 'message.created' && 'message' in data && data.message.content === 'A room for everybody',
    )
    expect(event.data).toMatchObject({
      message: { sender_address: `agent:${agent.id}`, sender: { name: agent.name }, reply_to: { id: asked.id } },
    })
    const written = line.all(agentWriting).filter(({ agent: { id } }) => id === agent.id)
    if (bob.url === alice.url) expect(written.map(({ text }) => text).join('')).toBe('A room for ')
    expect((await messagesIn(room)).filter(({ sender_address }) => sender_address.startsWith('agent:'))).toHaveLength(1)
  })

  solo('O20: shows no thought that is known for one by its end, once words follow', async () => {
    const { room, mention, agent } = await roomWithAgent()
    const line = await listenTo(bob, room)
    await say(alice, room, `${mention} what is this?`)
    const answer = await puppet.asked()
    answer.say('They want a room ')
    await line.hears(agentWriting, ({ text }) => text.includes('They want'))
    answer.unsay('They want a room '.length)
    answer.say('A room ')
    await line.hears(agentWriting, ({ text }) => text.includes('A room'))
    const words = line.all(agentWriting).filter(({ agent: { id } }) => id === agent.id)
    const shown = words.reduce<readonly Writing[]>((all, word) => heardWord(all, word, 0), [])
    expect(shown.map(({ text }) => text)).toEqual(['A room '])
    answer.say('for you')
    answer.end()
    await line.follows(
      room,
      ({ type, data }) => type === 'message.created' && 'message' in data && data.message.content === 'A room for you',
    )
  })

  solo('is judged as everybody is: what a rule of the room refuses is neither streamed nor said', async () => {
    const { room, mention, agent } = await roomWithAgent()
    await moderates(alice, { room, action: 'word_add', patch: { word: 'rhubarb', word_action: 'block' } })
    const line = await listenTo(alice, room)
    await say(alice, room, `${mention} say it`)
    const answer = await puppet.asked()
    answer.say('I like ', 'rhubarb ', 'very much ')
    answer.end()
    await line.follows(
      room,
      ({ type, data }) =>
        type === 'message.created' && 'message' in data && data.message.content === 'I could not answer this.',
    )
    expect(JSON.stringify(line.frames.filter(({ event }) => event === agentWriting.name))).not.toContain('rhubarb')
    expect(JSON.stringify(await messagesIn(room))).not.toContain('rhubarb')
    await moderates(alice, { room, action: 'ban', target: `agent:${agent.id}`, reason: 'Loud' })
    await say(alice, room, `${mention} again`)
    await expect
      .poll(() => alice.does('rest', messages.history, { room }).then((page) => page.messages.length))
      .toBeGreaterThan(2)
    const before = (await messagesIn(room)).length
    await new Promise((resolve) => setTimeout(resolve, 800))
    expect(await messagesIn(room)).toHaveLength(before)
  })

  solo('numbers no sources, as a room is shown none', async () => {
    const { room, mention } = await roomWithAgent()
    const line = await listenTo(alice, room)
    const { id } = await say(alice, room, `${mention} why?`)
    const answer = await puppet.asked()
    answer.say('It is so, ', '[1] as the list[0] ', 'says. [12]')
    answer.end()
    await expect
      .poll(async () => (await messagesIn(room)).find(({ reply_to }) => reply_to === id)?.content, { timeout: 10_000 })
      .toBe('It is so,  as the list[0] says.')
    expect(line.all(agentWriting).map(({ text }) => text)).not.toContainEqual(expect.stringContaining('[1'))
  })

  test('answers ten mentions one after the other, each knowing the answers before', async () => {
    const { room, mention } = await roomWithAgent()
    const asked: string[] = []
    for (let at = 0; at < 5; at++) {
      asked.push((await say(alice, room, `${mention} ${at}`)).id)
      asked.push((await say(bob, room, `${mention} ${at}`)).id)
    }
    const known: boolean[] = []
    for (let at = 0; at < asked.length; at++) {
      const answer = await puppet.asked()
      const turns = answer.question.turns.map(({ content }) => content)
      known.push(at === 0 || turns.includes(`Answer ${at - 1}`))
      answer.say(`Answer ${at}`)
      answer.end()
    }
    expect(known).toEqual(asked.map(() => true))
    await expect
      .poll(async () => (await messagesIn(room)).filter(({ content }) => content.startsWith('Answer')).length, {
        timeout: 30_000,
      })
      .toBe(10)
    const answers = (await messagesIn(room)).filter(({ content }) => content.startsWith('Answer'))
    expect(answers.map(({ content }) => content).sort()).toEqual(asked.map((_, at) => `Answer ${at}`).sort())
    expect(new Set(answers.map(({ reply_to }) => reply_to))).toEqual(new Set(asked))
  })

  test('tells nobody what was deleted, and forgets it', async () => {
    const { room, mention, agent } = await roomWithAgent()
    const line = await listenTo(bob, room)
    const secret = await say(alice, room, `${mention} my secret is 42`)
    const answer = await puppet.asked()
    answer.say('Noted: 42')
    answer.end()
    await line.follows(room, ({ data }) => 'message' in data && data.message?.content === 'Noted: 42')
    await alice.does('rest', messages.remove, { room, id: secret.id })
    await say(bob, room, `${mention} what was said before?`)
    const next = await puppet.asked()
    expect(JSON.stringify(next.question.turns)).not.toContain('42')
    next.end()
    await expect
      .poll(async () => JSON.stringify(await Runs.find({ agent_id: agent.id }).lean()))
      .not.toContain('secret')
  })

  solo('forgets what was purged, of the person and of the agent itself', async () => {
    const { room, mention, agent } = await roomWithAgent()
    const line = await listenTo(bob, room)
    const exchange = async (who: Person, question: string, answer: string) => {
      await say(who, room, `${mention} ${question}`)
      const asked = await puppet.asked()
      asked.say(answer)
      asked.end()
      await line.follows(room, ({ data }) => 'message' in data && data.message?.content === answer)
      return JSON.stringify(asked.question.turns)
    }
    const stored = async () => JSON.stringify(await Runs.find({ agent_id: agent.id }).lean())
    await exchange(bob, 'my secret is a plum', 'Noted: plum')
    await exchange(alice, 'my shoes are green', 'Green shoes')
    await say(bob, room, `${mention} another secret`)
    const slow = await puppet.asked()
    slow.say('It is a plum')
    await moderates(alice, { room, action: 'purge', target: bob.account })
    await expect.poll(stored).not.toContain('secret')
    slow.end()
    await expect.poll(async () => (await Runs.find({ agent_id: agent.id, state: 'running' })).length).toBe(0)
    expect(await stored()).not.toContain('plum')
    expect(await stored()).toContain('green')
    const told = await exchange(alice, 'what was said?', 'Shoes')
    expect(told).toContain('green')
    expect(told).not.toContain('plum')
    await moderates(alice, { room, action: 'purge', target: `agent:${agent.id}` })
    await expect.poll(stored).not.toContain('Green shoes')
  })

  solo('that is deleted while it is brought in is in no room', async () => {
    const room = await channelOf(alice, bob)
    const { agent } = await admin.does('rest', agents.create, { name: `Gone ${++made}`, visibility: 'official' })
    const create = AgentMemberships.create.bind(AgentMemberships)
    const spy = vi.spyOn(AgentMemberships, 'create').mockImplementationOnce((async (membership: object) => {
      await admin.does('rest', agents.remove, { id: agent.id })
      return create(membership)
    }) as never)
    const place = { id: agent.id, channelType: 'channel' as const, channelId: room.id }
    expect(outcomeOf(await admin.tries('rest', agents.joinRoom, place))).toBe('404 AGENT_NOT_FOUND')
    spy.mockRestore()
    expect(await AgentMemberships.countDocuments({ agent_id: agent.id })).toBe(0)
    const members = async () => (await alice.does('rest', rooms.members, { room })).members
    await expect
      .poll(async () => (await members()).map(({ user_address }) => user_address))
      .not.toContain(`agent:${agent.id}`)
  })

  solo('that was banned is listed there no more, and answers again once it was brought in again', async () => {
    const { room, agent, mention } = await roomWithAgent()
    const place = { id: agent.id, channelType: 'channel' as const, channelId: room.id }
    const listed = async () => [
      (await bob.does('rest', agents.inRoom, { id: room.id })).agents.length,
      (await bob.does('rest', agents.memberships, { id: agent.id })).memberships.length,
    ]
    expect(await listed()).toEqual([1, 1])
    await moderates(alice, { room, action: 'ban', target: `agent:${agent.id}`, reason: 'Loud' })
    expect(await listed()).toEqual([0, 0])
    await moderates(alice, { room, action: 'unban', target: `agent:${agent.id}` })
    expect(await listed()).toEqual([0, 0])
    await say(alice, room, `${mention} are you there?`)
    await admin.does('rest', agents.joinRoom, place)
    expect(await listed()).toEqual([1, 1])
    expect(outcomeOf(await admin.tries('rest', agents.joinRoom, place))).toBe('400 VALIDATION_ERROR')
    await say(alice, room, `${mention} and now?`)
    const answer = await puppet.asked()
    expect(answer.question.turns.at(-1)?.content).toContain('and now?')
    answer.say('Yes')
    answer.end()
    await expect.poll(async () => (await messagesIn(room)).map(({ content }) => content)).toContain('Yes')
  })

  solo('says as much of a long answer as the room takes, and cuts no character', async () => {
    const { room, mention, agent } = await roomWithAgent()
    await moderates(alice, { room, action: 'rules', patch: { rules: { max_message_length: 100 } } })
    const saidOf = async (text: string) => {
      await say(alice, room, mention)
      const answer = await puppet.asked()
      answer.say(text)
      answer.end()
      await expect.poll(async () => (await messagesIn(room)).at(-1)?.sender_address).toBe(`agent:${agent.id}`)
      return (await messagesIn(room)).at(-1)?.content
    }
    expect(await saidOf(`${'a'.repeat(98)}🎉🎉🎉`)).toBe(`${'a'.repeat(98)}🎉…`)
    expect(await saidOf(`${'b'.repeat(97)}🎉🎉🎉`)).toBe(`${'b'.repeat(97)}🎉🎉🎉`)
  })

  solo('answers nobody who mentions it within code', async () => {
    const { room, agent, mention } = await roomWithAgent()
    await say(alice, room, `Write \`${mention}\` to ask it`)
    await say(alice, room, `${mention} hello`)
    const answer = await puppet.asked()
    expect(answer.question.turns.at(-1)?.content).toContain(`@${agent.name} hello`)
    answer.end()
    await expect.poll(() => Runs.countDocuments({ agent_id: agent.id })).toBe(1)
  })

  solo('answers nobody where it is no member, no other agent, and not under the name of another', async () => {
    const { room, mention, agent } = await roomWithAgent()
    const elsewhere = await channelOf(alice, bob)
    const spoken = await say(alice, elsewhere, `${mention} hello`)
    const { agent: other } = await admin.does('rest', agents.create, {
      name: `Other ${++made}`,
      visibility: 'official',
    })
    await say(alice, room, `@[${agent.name}](${other.id}) hello`)
    await say(alice, room, `${mention} mention yourself`)
    const answer = await puppet.asked()
    answer.say(`${mention} hello`)
    answer.end()
    await expect.poll(async () => (await messagesIn(room)).length).toBe(3)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await messagesIn(room)).toHaveLength(3)
    expect(await messagesIn(elsewhere)).toMatchObject([{ content: spoken.content }])
    expect(await Runs.countDocuments({ agent_id: { $in: [agent.id, other.id] } })).toBe(1)
  })

  solo.each(over)(
    'is brought in and taken out by admins alone, and is listed to who sees the room, over %s',
    async (door) => {
      const { room, agent, membership } = await roomWithAgent()
      const place = { id: agent.id, channelType: 'channel' as const, channelId: room.id }
      expect(membership).toMatchObject({ agent_id: agent.id, channel_type: 'channel', channel_id: room.id })
      expect((await bob.does(door, agents.inRoom, { id: room.id })).agents).toMatchObject([
        { id: agent.id, isAgent: true },
      ])
      expect((await bob.does(door, agents.memberships, { id: agent.id })).memberships).toMatchObject([
        { id: membership.id, channel: { id: room.id } },
      ])
      for (const operation of [agents.joinRoom, agents.leaveRoom])
        expect(outcomeOf(await alice.tries(door, operation, place))).toBe('403 FORBIDDEN')
      expect(outcomeOf(await admin.tries(door, agents.joinRoom, place))).toBe('400 VALIDATION_ERROR')
      const { agent: own } = await admin.does('rest', agents.create, { name: `Own ${++made}` })
      expect(outcomeOf(await admin.tries(door, agents.joinRoom, { ...place, id: own.id }))).toBe('400 VALIDATION_ERROR')
      for (const operation of [agents.joinRoom, agents.leaveRoom])
        expect(outcomeOf(await admin.tries(door, operation, { ...place, id: 'nobody' }))).toBe('404 AGENT_NOT_FOUND')
      expect(outcomeOf(await admin.tries(door, agents.memberships, { id: 'nobody' }))).toBe('404 AGENT_NOT_FOUND')
      expect(outcomeOf(await admin.tries(door, agents.joinRoom, { ...place, channelId: 'nowhere' }))).toBe(
        '404 ROOM_NOT_FOUND',
      )
      expect(outcomeOf(await bob.tries(door, agents.inRoom, { id: 'nowhere' }))).toBe('404 ROOM_NOT_FOUND')
      await admin.does(door, agents.leaveRoom, place)
      expect((await bob.does(door, agents.inRoom, { id: room.id })).agents).toEqual([])
      const { members } = await alice.does('rest', rooms.members, { room })
      expect(members.map(({ user_address }) => user_address)).not.toContain(`agent:${agent.id}`)
    },
  )

  solo.each(over)('is not listed to who is banned, and has private agents unseen, over %s', async (door) => {
    const { room } = await roomWithAgent()
    const banned = await person(server, `banned ${door}`)
    await banned.does('rest', rooms.join, { room })
    await moderates(alice, { room, action: 'ban', target: banned.account, reason: 'Spam' })
    expect(outcomeOf(await banned.tries(door, agents.inRoom, { id: room.id }))).toBe('403 BANNED')
    const { agent: hidden } = await alice.does('rest', agents.create, { name: `Hidden ${door}` })
    expect(outcomeOf(await bob.tries(door, agents.memberships, { id: hidden.id }))).toBe('404 AGENT_NOT_FOUND')
    await alice.does('rest', agents.update, { id: hidden.id, visibility: 'friends' })
    expect(outcomeOf(await bob.tries(door, agents.memberships, { id: hidden.id }))).toBe('403 AGENT_FRIENDS_ONLY')
  })

  solo.each(over)('joins no archived room, and none it is banned from, over %s', async (door) => {
    const { room, agent } = await roomWithAgent()
    const place = { id: agent.id, channelType: 'channel' as const, channelId: room.id }
    await moderates(alice, { room, action: 'ban', target: `agent:${agent.id}`, reason: 'Loud' })
    await admin.does(door, agents.leaveRoom, place)
    expect(outcomeOf(await admin.tries(door, agents.joinRoom, place))).toBe('403 BANNED')
    const closed = await channelOf(alice)
    await alice.does('rest', rooms.archive, { room: closed } as never)
    expect(outcomeOf(await admin.tries(door, agents.joinRoom, { ...place, channelId: closed.id }))).toBe(
      '409 ROOM_ARCHIVED',
    )
  })

  solo.each(over)('is brought into the chat of a location, and answers there, over %s', async (door) => {
    const room = { type: 'location', id: crypto.randomUUID() } as const
    const { node } = server.apps[0] ?? {}
    if (!node) throw new Error('There is no node')
    const about = { name: 'Harbour', description: null, emoji: '⚓', category: 'general' }
    await ensureOfficial(node, roomKey(room), { ...room, ...about })
    await alice.does('rest', rooms.join, { room })
    const { agent } = await admin.does('rest', agents.create, { name: `Pilot ${++made}`, visibility: 'official' })
    const place = { id: agent.id, channelType: 'location' as const, channelId: room.id }
    const { membership } = await admin.does(door, agents.joinRoom, place)
    expect(membership).toMatchObject({ channel_type: 'location', channel_id: room.id })
    expect((await bob.does(door, agents.memberships, { id: agent.id })).memberships).toMatchObject([
      { id: membership.id, channel: null, location_chat: { id: room.id, name: 'Harbour', emoji: '⚓' } },
    ])
    await say(alice, room, `@[${agent.name}](${agent.id}) is it high tide?`)
    const answer = await puppet.asked()
    answer.say('Soon')
    answer.end()
    await expect.poll(async () => (await messagesIn(room)).at(-1)?.content).toBe('Soon')
    await admin.does(door, agents.leaveRoom, place)
    expect((await bob.does(door, agents.memberships, { id: agent.id })).memberships).toEqual([])
    expect(outcomeOf(await admin.tries(door, agents.joinRoom, { ...place, channelId: null }))).toBe(
      '400 VALIDATION_ERROR',
    )
  })

  solo('is in the room of everybody, and its new name is shown there', async () => {
    const { agent } = await admin.does('rest', agents.create, { name: `Host ${++made}`, visibility: 'official' })
    await admin.does('rest', agents.joinRoom, { id: agent.id, channelType: 'global' })
    expect((await bob.does('rest', agents.inRoom, { id: 'global' })).agents).toMatchObject([{ id: agent.id }])
    await admin.does('rest', agents.update, { id: agent.id, name: `Hostess ${made}` })
    await say(bob, alpha, `@[Whoever](${agent.id}) hello`)
    const answer = await puppet.asked()
    answer.say('Welcome')
    answer.end()
    await expect
      .poll(async () => (await alice.does('rest', messages.history, { room: alpha })).messages.at(-1))
      .toMatchObject({ content: 'Welcome', sender: { name: `Hostess ${made}` } })
    await admin.does('rest', agents.remove, { id: agent.id })
    await expect.poll(async () => (await bob.does('rest', agents.inRoom, { id: 'global' })).agents).toEqual([])
  })

  solo('tells a service token what it has said, never what the room refused', async () => {
    const { room, mention } = await roomWithAgent()
    await moderates(alice, { room, action: 'word_add', patch: { word: 'rhubarb', word_action: 'block' } })
    const created = await admin.does('rest', serviceTokens.create, {
      name: `bot ${++made}`,
      scopes: ['agents:write'],
    } as never)
    const { token } = created as unknown as { token: string }
    const asked = await say(alice, room, `${mention} say it`)
    const answer = await puppet.asked()
    answer.say('I like ', 'rhubarb')
    answer.end()
    const { body } = await call(
      server.url,
      'POST /api/channels/agent-response',
      {
        messageContent: `${mention} say it`,
        senderAddress: alice.account,
        channelType: 'channel',
        channelId: room.id,
        originalMessageId: asked.id,
      },
      token,
    )
    const apology = 'I could not answer this.'
    expect(body).toMatchObject({ responsesGenerated: 1, responses: [{ response: apology }] })
    const { messages: said } = await alice.does('rest', messages.history, { room })
    expect(said.filter(({ content }) => content === apology).map(({ id }) => id)).toEqual([
      (body as unknown as { responses: { messageId: string }[] }).responses[0]?.messageId,
    ])
  })

  test('is asked by a service token for what a message mentions, and gives each answer once', async () => {
    const { room, agent, mention } = await roomWithAgent()
    const asked = await say(alice, room, `${mention} hello`)
    const first = await puppet.asked()
    const created = await admin.does('rest', serviceTokens.create, {
      name: `bot ${made}`,
      scopes: ['agents:write'],
    } as never)
    const { token } = created as unknown as { token: string }
    const body = {
      messageContent: `${mention} hello`,
      senderAddress: alice.account,
      senderName: 'Alice',
      channelType: 'channel',
      channelId: room.id,
      originalMessageId: asked.id,
    }
    const post = (more: object) => call(server.url, 'POST /api/channels/agent-response', { ...body, ...more }, token)
    const answered = post({})
    first.say('Hello')
    first.end()
    const { body: told } = await answered
    expect(told).toMatchObject({
      processed: true,
      mentionsFound: 1,
      responsesGenerated: 1,
      responses: [{ agentId: agent.id, agentName: agent.name, response: 'Hello' }],
    })
    expect((await post({})).body).toEqual(told)
    for (const other of [{ messageContent: `${mention} and another thing` }, { senderAddress: bob.account }])
      expect(outcomeOf(await post(other))).toBe('409 CONFLICT')
    expect(await Runs.countDocuments({ agent_id: agent.id })).toBe(1)
    await expect.poll(async () => (await messagesIn(room)).filter(({ content }) => content === 'Hello')).toHaveLength(1)
    expect((await post({ messageContent: 'Nobody' })).body).toMatchObject({ processed: false, mentionsFound: 0 })
    expect((await post({ originalMessageId: 'nothing' })).code).toBe('MESSAGE_NOT_FOUND')
    expect((await post({ channelId: 'nowhere' })).code).toBe('ROOM_NOT_FOUND')
    expect(outcomeOf(await alice.tries('rest', agents.respond, body as never))).toBe('403 FORBIDDEN')
  })
})
