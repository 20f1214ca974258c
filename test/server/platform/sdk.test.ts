// Modes: embedded
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '#client/sdk/client'
import { runsOf } from '#client/sdk/runs'
import { memoryStorage } from '#client/sdk/storage'
import type { Client, ClientOptions, LiveRoom } from '#client/sdk/types'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { puppetModel } from '#test/support/puppet-model'
import { wallet } from '#test/support/wallet'

const puppet = puppetModel()
let server: Booted
const clients: Client[] = []

beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' }, services: { model: puppet.model } })
})
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
afterAll(() => server.close())

async function personOf(name: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = createClient({ url: server.urls.at(-1) ?? server.url, ...options })
  clients.push(client)
  const { address, signMessage } = wallet(name)
  await client.signIn({ address, signMessage: (message) => signMessage({ message }) })
  return client
}

let channels = 0
async function channelOf(owner: Client): Promise<RoomRef> {
  const { channel } = await owner.rooms.createChannel({ name: `Square ${++channels}` })
  return { type: 'channel', id: channel.id }
}

async function live(client: Client, ref: RoomRef): Promise<LiveRoom> {
  const open = client.room(ref)
  await expect.poll(() => open.state.status, { timeout: 5_000 }).toBe('live')
  return open
}

const texts = ({ state }: LiveRoom) => state.messages.map(({ content }) => content)
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`)

describe.each(['auto', 'rest'] as const)('over %s', (transport) => {
  test('one signs in, says something, and others read it in the same order', async () => {
    const ada = await personOf('ada', { transport })
    const bob = await personOf('bob', { transport })
    const ref = await channelOf(ada)
    await bob.rooms.join({ room: ref })
    const [ofAda, ofBob] = [await live(ada, ref), await live(bob, ref)]
    for (const text of numbers(1, 10)) ofAda.send({ text })
    ofBob.send({ text: 'hello' })
    await expect.poll(() => texts(ofBob).length, { timeout: 10_000 }).toBe(11)
    await expect.poll(() => texts(ofAda)).toEqual(texts(ofBob))
    expect(texts(ofAda).filter((text) => text !== 'hello')).toEqual(numbers(1, 10))
    await expect.poll(() => ofAda.state.messages.every(({ local }) => local === 'sent')).toBe(true)
  })

  test('a message is edited, reacted to, pinned and taken back for everybody', async () => {
    const ada = await personOf('ada', { transport })
    const bob = await personOf('bob', { transport })
    const ref = await channelOf(ada)
    await bob.rooms.join({ room: ref })
    const [ofAda, ofBob] = [await live(ada, ref), await live(bob, ref)]
    ofAda.send({ text: 'first' })
    await expect.poll(() => ofBob.state.messages[0]?.local).toBe('sent')
    await expect.poll(() => ofAda.state.messages[0]?.local).toBe('sent')
    const id = ofAda.state.messages[0]?.id ?? ''
    await ofAda.edit(id, 'second')
    await ofBob.react(id, '🙂')
    await ofAda.pin(id, true)
    await expect.poll(() => ofBob.state.pins.map(({ content }) => content)).toEqual(['second'])
    await expect
      .poll(() => ofBob.state.messages[0])
      .toMatchObject({ content: 'second', version: 2, reactions: { '🙂': 1 }, is_pinned: true })
    await ofAda.remove(id)
    await expect
      .poll(() => ofBob.state.messages[0])
      .toMatchObject({ is_deleted: true, reactions: {}, is_pinned: false })
    expect(ofBob.state.pins).toEqual([])
    const after = bob.messages.history({ room: ref })
    expect(ofBob.state.messages.map(({ local: _, refusal: __, reacted: ___, ...row }) => row)).toEqual(
      (await after).messages,
    )
  })

  test('a refusal comes with its verdict', async () => {
    const ada = await personOf('ada', { transport })
    const bob = await personOf('bob', { transport })
    const ref = await channelOf(ada)
    await bob.rooms.join({ room: ref })
    const ofBob = await live(bob, ref)
    await ada.moderation.act({ room: ref, action: 'rules', patch: { rules: { read_only: true } } })
    ofBob.send({ text: 'may I?' })
    await expect.poll(() => ofBob.state.messages[0]?.local, { timeout: 5_000 }).toBe('refused')
    expect(ofBob.state.messages[0]?.refusal).toMatchObject({ code: 'READ_ONLY', verdict: { step: 'read_only' } })
    await expect.poll(() => ofBob.state.rules.read_only).toBe(true)
  })
})

test('whoever was away catches up without a hole, and what was written meanwhile follows in order', heavy, async () => {
  const ada = await personOf('ada')
  const bob = await personOf('bob')
  const ref = await channelOf(ada)
  await bob.rooms.join({ room: ref })
  const [ofAda, ofBob] = [await live(ada, ref), await live(bob, ref)]
  bob.pause()
  for (const text of numbers(1, 230)) ofAda.send({ text })
  for (const text of ['a', 'b', 'c']) ofBob.send({ text })
  expect(ofBob.state.messages.map(({ local }) => local)).toEqual(['queued', 'queued', 'queued'])
  await expect.poll(() => ofAda.state.messages.at(-1)?.local, { timeout: 45_000 }).toBe('sent')
  bob.resume()
  await expect.poll(() => texts(ofBob), { timeout: 45_000 }).toEqual([...numbers(1, 230), 'a', 'b', 'c'])
  await expect.poll(() => texts(ofAda)).toEqual(texts(ofBob))
  expect(ofBob.state.caughtUp?.events).toBeGreaterThanOrEqual(230)
})

test('what is sent while the socket dies arrives once', async () => {
  const ada = await personOf('ada')
  const ref = await channelOf(ada)
  const ofAda = await live(ada, ref)
  for (const text of numbers(1, 40)) ofAda.send({ text })
  for (let cut = 0; cut < 4; cut++) {
    await new Promise((resolve) => setTimeout(resolve, 30))
    ada.pause()
    ada.resume()
  }
  await expect.poll(() => ofAda.state.messages.every(({ local }) => local === 'sent'), { timeout: 45_000 }).toBe(true)
  await expect.poll(() => texts(ofAda), { timeout: 5_000 }).toEqual(numbers(1, 40))
  const { messages } = await ada.messages.history({ room: ref, limit: 100 })
  expect(messages.map(({ content }) => content)).toEqual(numbers(1, 40))
})

test('whoever is banned hears why and sees nothing more; lifted, they are back', async () => {
  const ada = await personOf('ada')
  const bob = await personOf('bob')
  const ref = await channelOf(ada)
  await bob.rooms.join({ room: ref })
  const ofBob = await live(bob, ref)
  const target = bob.account ?? ''
  await ada.moderation.act({ room: ref, action: 'ban', target, duration: 'permanent', reason: 'noise' })
  await expect.poll(() => ofBob.state.status).toBe('refused')
  expect(ofBob.state.error?.code).toBe('BANNED')
  expect(ofBob.state.access).toMatchObject({ state: 'banned', reason: 'noise' })
  await ada.moderation.act({ room: ref, action: 'unban', target })
  await bob.rooms.join({ room: ref })
  await expect.poll(() => ofBob.state.status).toBe('live')
})

test('a new rank is known at once, with what it allows', async () => {
  const ada = await personOf('ada')
  const bob = await personOf('bob')
  const ref = await channelOf(ada)
  await bob.rooms.join({ room: ref })
  const ofBob = await live(bob, ref)
  expect(ofBob.state.me.permissions.canPin).toBe(false)
  await ada.moderation.act({ room: ref, action: 'promote', target: bob.account, patch: { canPin: true } })
  await expect.poll(() => ofBob.state.me.permissions.canPin).toBe(true)
  await expect.poll(() => ofBob.state.me.permissions.isModerator).toBe(true)
  await ada.moderation.act({ room: ref, action: 'demote', target: bob.account })
  await expect.poll(() => ofBob.state.me.permissions.canPin).toBe(false)
})

test('a visitor reads a public channel by REST and is told to join', async () => {
  const ada = await personOf('ada')
  const ref = await channelOf(ada)
  const ofAda = await live(ada, ref)
  ofAda.send({ text: 'welcome' })
  await expect.poll(() => ofAda.state.messages[0]?.local).toBe('sent')
  const bob = await personOf('bob')
  const ofBob = bob.room(ref)
  await expect.poll(() => ofBob.state.status).toBe('refused')
  await expect.poll(() => texts(ofBob)).toEqual(['welcome'])
  expect(ofBob.state.error?.code).toBe('NOT_A_MEMBER')
  await bob.rooms.join({ room: ref })
  await expect.poll(() => ofBob.state.status).toBe('live')
  expect(texts(ofBob)).toEqual(['welcome'])
})

test('signing out ends the session and the connection', async () => {
  const ada = await personOf('ada')
  await expect.poll(() => ada.connection.state).toBe('online')
  await ada.signOut()
  expect(ada.account).toBeNull()
  await expect.poll(() => ada.connection.state).not.toBe('online')
  await expect(ada.inbox.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
})

test('a session that has ended on every device is told, not retried', async () => {
  const [ada, elsewhere] = [await personOf('ada'), await personOf('ada')]
  await expect.poll(() => ada.connection.state).toBe('online')
  await elsewhere.identity.logout({ allDevices: true })
  await expect.poll(() => ada.session.endedBy).toBe('SESSION_NOT_FOUND')
  expect(ada.account).toBeNull()
})

test.each(['auto', 'rest'] as const)(
  'a token that is no longer good is renewed by itself, over %s',
  async (transport) => {
    const storage = memoryStorage()
    const first = await personOf('ada', { storage })
    const { account } = first
    first.close()
    const kept = JSON.parse(storage.getItem('plaza:session') ?? '{}')
    storage.setItem('plaza:session', JSON.stringify({ ...kept, token: `${kept.token}x` }))
    const again = createClient({ url: server.url, storage, transport })
    clients.push(again)
    expect((await again.identity.session()).userAddress).toBe(account)
    expect((await again.inbox.list()).rooms).toBeInstanceOf(Array)
    if (transport === 'auto') await expect.poll(() => again.connection.state).toBe('online')
    expect(JSON.parse(storage.getItem('plaza:session') ?? '{}').token).not.toBe(`${kept.token}x`)
  },
)

describe.each(['auto', 'rest'] as const)('polls over %s', (transport) => {
  const drinks = { question: 'What to drink?', options: ['tea', 'coffee'] }

  async function stage(input: { isAnonymous: boolean }) {
    const ada = await personOf('ada', { transport })
    const bob = await personOf('bob', { transport })
    const ref = await channelOf(ada)
    await bob.rooms.join({ room: ref })
    const ofBob = await live(bob, ref)
    const { poll } = await ada.polls.create({ room: ref, ...drinks, ...input })
    await expect.poll(() => ofBob.state.polls.get(poll.id)?.version).toBe(1)
    const pollOf = ({ state }: LiveRoom) => {
      const known = state.polls.get(poll.id)
      return known && { mine: known.user_votes, counts: known.votes.map(({ count }) => count) }
    }
    return { ada, bob, ref, ofBob, id: poll.id, pollOf }
  }

  describe.each([false, true])('which are anonymous: %s', (isAnonymous) => {
    test('a vote of this account is known after a reload', async () => {
      const { ada, ref, ofBob, id, pollOf } = await stage({ isAnonymous })
      await ofBob.vote(id, 1)
      await ada.polls.vote({ room: ref, pollId: id, optionIndex: 0 })
      await expect.poll(() => pollOf(ofBob)).toEqual({ mine: [1], counts: [1, 1] })
      const again = await live(await personOf('bob', { transport }), ref)
      await expect.poll(() => pollOf(again), { timeout: 5_000 }).toEqual({ mine: [1], counts: [1, 1] })
    })

    test('a vote of this account is known in a poll of an older page', async () => {
      const { ada, ref, ofBob, id, pollOf } = await stage({ isAnonymous })
      await ofBob.vote(id, 1)
      const ofAda = await live(ada, ref)
      for (const text of numbers(1, 70)) ofAda.send({ text })
      await expect.poll(() => texts(ofBob).length, { timeout: 30_000 }).toBe(71)
      const again = await live(await personOf('bob', { transport }), ref)
      expect(pollOf(again)).toBeUndefined()
      await again.loadOlder()
      await expect.poll(() => pollOf(again), { timeout: 5_000 }).toEqual({ mine: [1], counts: [0, 1] })
    })

    test('a vote that this account gave elsewhere while it was away is known when it is back', async () => {
      const { bob, ref, ofBob, id, pollOf } = await stage({ isAnonymous })
      const elsewhere = await personOf('bob', { transport })
      bob.pause()
      await expect.poll(() => ofBob.state.status).toBe('offline')
      await elsewhere.polls.vote({ room: ref, pollId: id, optionIndex: 1 })
      bob.resume()
      await expect.poll(() => pollOf(ofBob), { timeout: 10_000 }).toEqual({ mine: [1], counts: [0, 1] })
    })

    test('a poll that was closed and purged is not kept', async () => {
      const { ada, bob, ref, ofBob } = await stage({ isAnonymous })
      const asked = await bob.polls.create({ room: ref, ...drinks, question: 'Purged?', isAnonymous })
      await bob.polls.update({ room: ref, pollId: asked.poll.id, isClosed: true })
      await expect.poll(() => ofBob.state.polls.get(asked.poll.id)?.is_closed).toBe(true)
      await ada.moderation.act({ room: ref, action: 'purge', target: bob.account })
      const again = await live(await personOf('bob', { transport }), ref)
      for (const open of [ofBob, again]) {
        await expect.poll(() => open.state.messages.find(({ id }) => id === asked.message.id)?.is_deleted).toBe(true)
        await expect
          .poll(() => [...open.state.polls.values()].map(({ question }) => question))
          .toEqual([drinks.question])
      }
    })
  })

  test('a vote that this account gives elsewhere is known at once in a named poll', async () => {
    const { ref, ofBob, id, pollOf } = await stage({ isAnonymous: false })
    const elsewhere = await personOf('bob', { transport })
    await elsewhere.polls.vote({ room: ref, pollId: id, optionIndex: 1 })
    await expect.poll(() => pollOf(ofBob), { timeout: 30_000 }).toEqual({ mine: [1], counts: [0, 1] })
  })
})

describe('answers of agents', () => {
  const agentOf = async (owner: Client) => (await owner.agents.create({ name: `Agent ${++channels}` })).agent.id

  test('are written as they come, and go on after a lost connection without a frame lost or doubled', async () => {
    const ada = await personOf('ada of agents')
    await expect.poll(() => ada.connection.state).toBe('online')
    const run = runsOf(ada).ask(await agentOf(ada), 'Hello?')
    const answer = await puppet.asked()
    answer.say('one ')
    await expect.poll(() => run.state.text).toBe('one ')
    ada.pause()
    expect(run.state.isCutOff).toBe(true)
    answer.say('two ')
    ada.resume()
    await expect.poll(() => run.state.text).toBe('one two ')
    answer.say('three')
    answer.end()
    await expect.poll(() => run.state).toMatchObject({ status: 'done', text: 'one two three', isCutOff: false })
  })

  test('are found by another client of the account, which stops them', async () => {
    const ada = await personOf('ada of agents')
    await expect.poll(() => ada.connection.state).toBe('online')
    const agent = await agentOf(ada)
    const run = runsOf(ada).ask(agent, 'Hello?')
    const answer = await puppet.asked()
    answer.say('one ')
    await expect.poll(() => run.state.text).toBe('one ')
    const elsewhere = await personOf('ada of agents')
    await expect.poll(() => elsewhere.connection.state).toBe('online')
    const [found] = await runsOf(elsewhere).active(agent)
    await expect.poll(() => found?.state.text).toBe('one ')
    await found?.cancel()
    await expect.poll(() => run.state).toMatchObject({ status: 'cancelled', text: 'one ' })
    await expect.poll(() => found?.state.status).toBe('cancelled')
    expect(answer.signal.aborted).toBe(true)
  })

  test('are asked for and read over REST where there is no socket', async () => {
    const ada = await personOf('ada of agents', { transport: 'rest' })
    const agent = await agentOf(ada)
    await expect.poll(() => ada.connection.state).toBe('rest')
    const run = runsOf(ada).ask(agent, 'Hello?')
    const answer = await puppet.asked()
    answer.say('one ')
    await expect.poll(() => run.state.text).toBe('one ')
    answer.say('two')
    answer.end()
    await expect.poll(() => run.state).toMatchObject({ status: 'done', text: 'one two' })
  })

  test('end as sequences do, line by line and frame by frame', async () => {
    const ada = await personOf('ada of agents')
    const id = await agentOf(ada)
    const lines: object[] = []
    const reading = (async () => {
      for await (const line of ada.agents.chatStream({ id, message: 'Hello?' })) lines.push(line)
    })()
    const answer = await puppet.asked()
    answer.say('one')
    answer.end()
    await reading
    expect(lines.at(-1)).toMatchObject({ type: 'done', message: 'one' })
    const run_id = (await ada.agents.history({ id })).chats[0]?.run_id ?? ''
    const frames: object[] = []
    for await (const frame of ada.agents.frames({ id: run_id })) frames.push(frame)
    expect(frames.at(-1)).toMatchObject({ t: 'done', message: 'one' })
  })
})
