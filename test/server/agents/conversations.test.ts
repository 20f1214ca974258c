// Modes: embedded, two-nodes
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Conversations, Runs } from '#server/domains/agents/runs/model'
import { agents } from '#shared/api/agents/agents'
import { type Booted, boot } from '#test/support/boot'
import { type Door, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { solo } from '#test/support/solo'

const puppet = puppetModel()
let server: Booted
let made = 0
beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' }, services: { model: puppet.model } })
})
afterAll(() => server.close())

const somebody = () => person(server, `talker ${++made}`)
const agentOf = async (owner: Person): Promise<string> =>
  (await owner.does('rest', agents.create, { name: `Agent ${++made}`, visibility: 'public' })).agent.id

interface Question {
  sessionId?: string
  replaces?: string
  client_run_id?: string
}

/** Asks, and has the model answer; returns the run and what the model was asked. */
async function ask(asker: Person, agent: string, message: string, more: Question = {}, says = `Of ${message}`) {
  const answered = asker.does('rest', agents.chat, { id: agent, message, ...more })
  const answer = await puppet.asked()
  answer.say(says)
  answer.end()
  const { run_id } = await answered
  return { run_id, known: answer.question.turns.slice(1).map(({ content }) => content) }
}

const listed = async (asker: Person, door: Door, agent: string, more: object = {}) =>
  (await asker.does(door, agents.conversations, { id: agent, ...more })).conversations
const saidIn = async (asker: Person, door: Door, agent: string, sessionId?: string) =>
  (await asker.does(door, agents.history, { id: agent, ...(sessionId && { sessionId }) })).chats.map(
    ({ content }) => content,
  )

describe('a conversation with an agent', () => {
  test.each(over)(
    'begins with a question, is listed last asked first, and has messages of its own, over %s',
    async (door) => {
      const asker = await somebody()
      const agent = await agentOf(asker)
      await ask(asker, agent, '  One\nfine   day ', { sessionId: 'a' })
      await ask(asker, agent, 'Two', { sessionId: 'b' })
      expect(await listed(asker, door, agent)).toMatchObject([
        { id: 'b', title: 'Two' },
        { id: 'a', title: 'One fine day' },
      ])
      await ask(asker, agent, 'Three', { sessionId: 'a' })
      expect((await listed(asker, door, agent)).map(({ id }) => id)).toEqual(['a', 'b'])
      expect(await saidIn(asker, door, agent, 'b')).toEqual(['Two', 'Of Two'])
      expect(await saidIn(asker, door, agent)).toHaveLength(6)
    },
  )

  solo('is all that the answers in it know, and questions without one are of `main`', async () => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    await ask(asker, agent, 'Unnamed')
    await ask(asker, agent, 'One', { sessionId: 'a' })
    expect((await ask(asker, agent, 'Two', { sessionId: 'a' })).known).toEqual(['One', 'Of One', 'Two'])
    expect((await ask(asker, agent, 'More', { sessionId: 'main' })).known).toEqual(['Unnamed', 'Of Unnamed', 'More'])
    expect(await saidIn(asker, 'rest', agent, 'main')).toEqual(['Unnamed', 'Of Unnamed', 'More', 'Of More'])
  })

  solo('of an older version is listed, and can be renamed', async () => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    await ask(asker, agent, 'Long ago')
    await Conversations.deleteMany({ account: asker.account })
    expect(await listed(asker, 'rest', agent)).toMatchObject([{ id: 'main', title: 'Long ago' }])
    await asker.does('rest', agents.renameConversation, { id: agent, sessionId: 'main', title: 'Of old' })
    await ask(asker, agent, 'Now', { sessionId: 'a' })
    expect((await listed(asker, 'rest', agent)).map(({ title }) => title)).toEqual(['Now', 'Of old'])
  })

  test.each(over)('is renamed, found by words of its title, and paged, over %s', async (door) => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    for (const sessionId of ['a', 'b', 'c']) await ask(asker, agent, `Question ${sessionId}`, { sessionId })
    const renamed = { id: agent, sessionId: 'b', title: 'Été in Zürich' }
    expect((await asker.does(door, agents.renameConversation, renamed)).conversation).toMatchObject({
      id: 'b',
      title: 'Été in Zürich',
    })
    expect((await listed(asker, door, agent, { search: 'zurich ete' })).map(({ id }) => id)).toEqual(['b'])
    const first = await asker.does(door, agents.conversations, { id: agent, limit: 2 })
    expect(first.conversations.map(({ id }) => id)).toEqual(['c', 'b'])
    const cursor = first.next_cursor ?? ''
    const rest = await asker.does(door, agents.conversations, { id: agent, limit: 2, cursor })
    expect(rest).toMatchObject({ conversations: [{ id: 'a' }], next_cursor: null })
  })

  test.each(over)('is deleted alone, or with all others, over %s', async (door) => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    for (const sessionId of ['a', 'b', 'c']) await ask(asker, agent, `Question ${sessionId}`, { sessionId })
    await asker.does(door, agents.forget, { id: agent, sessionId: 'b' })
    expect((await listed(asker, door, agent)).map(({ id }) => id)).toEqual(['c', 'a'])
    expect(await saidIn(asker, door, agent, 'b')).toEqual([])
    await asker.does(door, agents.forget, { id: agent })
    expect(await listed(asker, door, agent)).toEqual([])
    expect(await saidIn(asker, door, agent)).toEqual([])
  })

  test.each(over)('of somebody else is neither listed, read, renamed nor deleted, over %s', async (door) => {
    const [asker, other] = [await somebody(), await somebody()]
    const agent = await agentOf(asker)
    const { run_id } = await ask(asker, agent, 'Secret', { sessionId: 'a' })
    expect(await listed(other, door, agent)).toEqual([])
    expect(await saidIn(other, door, agent, 'a')).toEqual([])
    expect(await saidIn(other, door, agent, run_id)).toEqual([])
    const renamed = await other.refused(door, agents.renameConversation, { id: agent, sessionId: 'a', title: 'Mine' })
    expect(renamed.code).toBe('NOT_FOUND')
    await other.does(door, agents.forget, { id: agent, sessionId: 'a' })
    expect(await listed(asker, door, agent)).toMatchObject([{ title: 'Secret' }])
    expect(await saidIn(asker, door, agent, 'a')).toHaveLength(2)
  })

  solo('is not listed where an agent is closed to the caller, but stays its asker’s', async () => {
    const [owner, asker, other] = [await somebody(), await somebody(), await somebody()]
    const agent = await agentOf(owner)
    await ask(asker, agent, 'Open', { sessionId: 'a' })
    await owner.does('rest', agents.update, { id: agent, visibility: 'private' })
    expect(await listed(asker, 'rest', agent)).toMatchObject([{ title: 'Open' }])
    expect((await other.refused('rest', agents.conversations, { id: agent })).code).toBe('AGENT_NOT_FOUND')
  })

  solo('goes with its agent', async () => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    await ask(asker, agent, 'One', { sessionId: 'a' })
    await asker.does('rest', agents.remove, { id: agent })
    await expect.poll(() => Conversations.countDocuments({ agent_id: agent })).toBe(0)
  })
})

describe('the rating of an answer', () => {
  test.each(over)('is its asker’s, is counted for the owner, and can be taken back, over %s', async (door) => {
    const [owner, asker] = [await somebody(), await somebody()]
    const agent = await agentOf(owner)
    const { run_id } = await ask(asker, agent, 'Hi')
    const seen = async () => (await asker.does(door, agents.history, { id: agent })).chats.at(-1)?.rating
    const counted = async () => {
      const { agent: shown } = await owner.does(door, agents.get, { id: agent })
      return shown.is_own ? shown.ratings : null
    }
    await asker.does(door, agents.rate, { run_id, rating: 'up' })
    expect([await seen(), await counted()]).toEqual(['up', { up: 1, down: 0 }])
    await asker.does(door, agents.rate, { run_id, rating: 'down' })
    expect([await seen(), await counted()]).toEqual(['down', { up: 0, down: 1 }])
    await asker.does(door, agents.rate, { run_id, rating: null })
    expect([await seen(), await counted()]).toEqual([null, { up: 0, down: 0 }])
    expect((await owner.refused(door, agents.rate, { run_id, rating: 'up' })).code).toBe('RUN_NOT_FOUND')
  })
})

describe('a question that replaces an earlier one', () => {
  test.each(over)('takes its place, and what came after it is deleted and not known, over %s', async (door) => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    await ask(asker, agent, 'First', { sessionId: 'a' })
    const { run_id: replaces } = await ask(asker, agent, 'Wrong', { sessionId: 'a' })
    await ask(asker, agent, 'Later', { sessionId: 'a' })
    await ask(asker, agent, 'Beside', { sessionId: 'b' })
    const { known } = await ask(asker, agent, 'Right', { sessionId: 'a', replaces })
    expect(known).toEqual(['First', 'Of First', 'Right'])
    expect(await saidIn(asker, door, agent, 'a')).toEqual(['First', 'Of First', 'Right', 'Of Right'])
    expect(await saidIn(asker, door, agent, 'b')).toEqual(['Beside', 'Of Beside'])
    expect(await Runs.countDocuments({ account: asker.account, message: { $in: ['Wrong', 'Later'] } })).toBe(0)
  })

  solo('stops the answer that is being written', async () => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    const { run_id: replaces } = await asker.does('socket', agents.run, { agent_id: agent, message: 'Slow' })
    const slow = await puppet.asked()
    slow.say('Once')
    await ask(asker, agent, 'Quick', { replaces })
    expect(slow.signal.aborted).toBe(true)
    expect(await saidIn(asker, 'rest', agent)).toEqual(['Quick', 'Of Quick'])
  })

  solo('is repeated with the same key as any other', async () => {
    const asker = await somebody()
    const agent = await agentOf(asker)
    const { run_id: replaces } = await ask(asker, agent, 'Wrong')
    const first = await ask(asker, agent, 'Right', { replaces, client_run_id: 'again' })
    const again = { id: agent, message: 'Right', replaces, client_run_id: 'again' }
    expect((await asker.does('rest', agents.chat, again)).run_id).toBe(first.run_id)
  })

  test.each(over)('is refused where the earlier one is of another person or conversation, over %s', async (door) => {
    const [asker, other] = [await somebody(), await somebody()]
    const agent = await agentOf(asker)
    const { run_id: replaces } = await ask(asker, agent, 'Mine', { sessionId: 'a' })
    const asks = (who: Person, sessionId: string) => {
      const question = { message: 'Yours', sessionId, replaces }
      return door === 'socket'
        ? who.refused(door, agents.run, { agent_id: agent, ...question })
        : who.refused(door, agents.chat, { id: agent, ...question })
    }
    expect((await asks(other, 'a')).code).toBe('RUN_NOT_FOUND')
    expect((await asks(asker, 'b')).code).toBe('RUN_NOT_FOUND')
    const streamed = { id: agent, message: 'Yours', sessionId: 'b', replaces, stream: true } as const
    expect((await asker.refused('rest', agents.chatStream, streamed)).code).toBe('RUN_NOT_FOUND')
    expect(await saidIn(asker, door, agent, 'a')).toEqual(['Mine', 'Of Mine'])
  })
})
