// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { applyFrames, newRun as newState } from '#client/sdk/run-state'
import { fieldsOf, newFields } from '#client/web/agents/agent-fields'
import { Agents } from '#server/domains/agents/agent-state/model'
import { createAgent } from '#server/domains/agents/agents/owned'
import { endLostRun, newRun } from '#server/domains/agents/runs/begin'
import { framesFrom, storedFrames } from '#server/domains/agents/runs/frame-store'
import { RunFrames, Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { runBegun, runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { isTerminal, type RunFrame } from '#shared/api/agents/run-frames'
import { accounts } from '#shared/api/people/accounts'
import { friends } from '#shared/api/people/friends'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import type { Line } from '#test/support/line'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

const puppet = puppetModel()
let server: Booted
let alice: Person
let bob: Person
let admin: Person
let made = 0

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppet.model },
  })
  alice = await person(server, 'alice')
  bob = await person(server, 'bob')
  admin = await person(server, 'admin')
})
afterAll(() => server.close())

/** An agent with a name that no other has. */
async function agentOf(owner: Person, more: object = {}) {
  made += 1
  const { agent } = await owner.does('rest', agents.create, { name: `Agent ${made}`, ...more })
  return agent
}
let people = 0
const somebody = () => person(server, `somebody ${++people}`)

const framesOf = (line: Line, run: string): RunFrame[] => line.all(runFrame).filter(({ run_id }) => run_id === run)
const endOf = (line: Line, run: string) => line.hears(runFrame, (frame) => frame.run_id === run && isTerminal(frame))
const textOf = (frames: readonly RunFrame[]) =>
  frames.reduce((text, frame) => (frame.t === 'chunk' ? text.slice(0, frame.off) + frame.text : text), '')

/** Every line of an answer, without leaving out an empty one. */
async function linesAt(who: Person, route: string, body?: object): Promise<unknown[]> {
  const [method = '', path = ''] = route.split(' ')
  const answer = await fetch(who.url + path, {
    method,
    headers: { authorization: `Bearer ${who.token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  expect(answer.status).toBe(200)
  const lines = (await answer.text()).split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => JSON.parse(line))
}

describe('an answer', () => {
  solo('streams to the connection that asked, by frames without a gap, and is in the history', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner, { personality: 'Dry' })
    const line = await owner.line('/agents')
    const { run_id, head_idx } = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Hello?' })
    expect(head_idx).toBe(0)
    const answer = await puppet.asked()
    expect(answer.question.turns.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(answer.question.turns[0]?.content).toContain('Dry')
    answer.say('Good ', 'day')
    await line.hears(runFrame, (frame) => frame.t === 'chunk')
    answer.say('.')
    answer.end()
    const end = await endOf(line, run_id)
    expect(end).toMatchObject({ t: 'done', message: 'Good day.', usage: { input_tokens: 3, output_tokens: 5 } })
    const frames = framesOf(line, run_id)
    expect(frames.map(({ idx }) => idx)).toEqual(frames.map((_, at) => at))
    expect(frames[0]).toMatchObject({ t: 'start', agent: { id: agent.id }, model: 'puppet' })
    expect(textOf(frames)).toBe('Good day.')
    await expect
      .poll(async () => (await owner.does('rest', agents.history, { id: agent.id })).chats)
      .toMatchObject([
        { role: 'user', content: 'Hello?' },
        { role: 'assistant', content: 'Good day.', state: 'done', run_id, ms: expect.any(Number) },
      ])
    await expect.poll(async () => (await owner.does('rest', agents.get, { id: agent.id })).agent.message_count).toBe(1)
  })

  solo(
    'O20: has nothing of a thought that is known for one by its end alone, by frames, lines and in the history',
    async () => {
      const owner = await somebody()
      const agent = await agentOf(owner)
      const line = await owner.line('/agents')
      const { run_id } = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Hello?' })
      const answer = await puppet.asked()
      answer.say('They want', ' a greeting')
      await line.hears(runFrame, (frame) => frame.t === 'chunk' && frame.text.includes('greeting'))
      answer.unsay('They want a greeting'.length)
      answer.say('Good day')
      await line.hears(runFrame, (frame) => frame.t === 'chunk' && frame.text.includes('day'))
      answer.say('.')
      answer.end()
      expect(await endOf(line, run_id)).toMatchObject({ t: 'done', message: 'Good day.' })
      const frames = framesOf(line, run_id)
      expect(applyFrames(newState('Hello?', run_id), frames.slice(0, -1)).text).toBe('Good day.')
      await expect
        .poll(async () => (await owner.does('rest', agents.history, { id: agent.id })).chats.at(-1))
        .toMatchObject({ role: 'assistant', content: 'Good day.', state: 'done' })
      const lines = linesAt(owner, `POST /api/agents/${agent.id}/chat`, { message: 'Hi', stream: true })
      const next = await puppet.asked()
      next.say('They want')
      next.unsay('They want'.length)
      next.say('Hello')
      next.end()
      expect((await lines).at(-1)).toMatchObject({ type: 'done', message: 'Hello' })
    },
  )

  solo('O20: that is such a thought alone is silent', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const asked = owner.rest(`POST /api/agents/${agent.id}/chat`, { message: 'Hi' })
    const answer = await puppet.asked()
    answer.say('They want')
    answer.unsay('They want'.length)
    answer.end()
    expect((await asked).body).toMatchObject({ failure: 'MODEL_SILENT' })
  })

  test('is the same text from every idx, over both doors and on every node, while it is written and after', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const { run_id } = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Count' })
    const answer = await puppet.asked()
    const line = await owner.line('/agents')
    for (const word of ['one ', 'two ', 'three ', 'four ']) {
      answer.say(word)
      await line.hears(runFrame, (frame) => frame.t === 'chunk' && frame.text.includes(word))
    }
    const elsewhere = await owner.socket('/agents', server.urls.at(-1))
    const during = await owner.does(elsewhere, agents.resume, { run_id, after_idx: 2 })
    expect(during).toMatchObject({ state: 'running', complete: true })
    answer.say('five')
    answer.end()
    const last = await endOf(elsewhere, run_id)
    await endOf(line, run_id)
    const all = [...framesOf(line, run_id)]
    expect([...during.frames, ...framesOf(elsewhere, run_id)]).toEqual(all.slice(3))
    expect(last).toEqual(all.at(-1))
    for (let after = -1; after < all.length; after++) {
      const { frames, head_idx } = await owner.does(elsewhere, agents.resume, { run_id, after_idx: after })
      expect(frames).toEqual(all.slice(after + 1))
      expect(head_idx).toBe(all.length - 1)
      const lines = await linesAt(owner, `GET /api/agents/runs/${run_id}/frames?after_idx=${after}`)
      expect(lines).toEqual(all.slice(after + 1))
    }
  })

  solo('is told by the three kinds of line over REST, and by nothing else', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const asked = linesAt(owner, `POST /api/agents/${agent.id}/chat`, { message: 'Hi', stream: true })
    const answer = await puppet.asked()
    answer.say('{"type":"done"}\n', 'there')
    answer.end()
    const lines = (await asked) as { type: string; text?: string }[]
    expect(lines.at(-1)).toEqual({
      ...{ type: 'done', message: '{"type":"done"}\nthere', scheduling: null },
      sessionId: expect.any(String),
    })
    expect(new Set(lines.slice(0, -1).map(({ type }) => type))).toEqual(new Set(['chunk']))
    expect(lines.map(({ text = '' }) => text).join('')).toBe('{"type":"done"}\nthere')
  })

  solo('is waited for where no lines are asked for', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner, { avatarEmoji: '🦊' })
    const asked = owner.rest(`POST /api/agents/${agent.id}/chat`, { message: 'Hi', userAddress: owner.account })
    const answer = await puppet.asked()
    answer.say('Yes')
    answer.end()
    expect((await asked).body).toMatchObject({
      message: 'Yes',
      agentName: agent.name,
      agentEmoji: '🦊',
      scheduling: null,
    })
  })

  solo('that was asked for again by the same key is the same one', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const question = { agent_id: agent.id, message: 'Once', client_run_id: 'key-1' }
    const first = await owner.does('socket', agents.run, question)
    const answer = await puppet.asked()
    const again = await Promise.all(Array.from({ length: 5 }, () => owner.does('socket', agents.run, question)))
    expect(new Set(again.map(({ run_id }) => run_id))).toEqual(new Set([first.run_id]))
    answer.end()
    const line = await owner.line('/agents')
    await endOf(line, first.run_id)
    const told = line.all(runFrame).map(({ idx }) => idx)
    expect(told).toEqual(told.map((_, at) => at))
    expect(await Runs.countDocuments({ account: owner.account })).toBe(1)
    const other = await owner.refused('socket', agents.run, { ...question, message: 'Another' })
    expect(other.code).toBe('CONFLICT')
  })

  solo('is cut off at 32,000 UTF-16 code units, at a whole character', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const { run_id } = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Go on' })
    const answer = await puppet.asked()
    answer.say('x'.repeat(31_997), '🦊', '🦊', 'more')
    const end = await endOf(await owner.line('/agents'), run_id)
    expect(end).toMatchObject({ t: 'done', message: `${'x'.repeat(31_997)}🦊` })
  })

  solo('that fails ends with an error, keeps what was written, and counts as no message', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const { run_id } = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Fail' })
    const answer = await puppet.asked()
    answer.say('Half a ')
    answer.fail(new AppError('UPSTREAM_ERROR'))
    const end = await endOf(await owner.line('/agents'), run_id)
    expect(end).toMatchObject({ t: 'error', code: 'UPSTREAM_ERROR' })
    await expect
      .poll(async () => (await owner.does('rest', agents.history, { id: agent.id })).chats.at(-1))
      .toMatchObject({ content: 'Half a ', state: 'failed', error_code: 'UPSTREAM_ERROR' })
    expect((await owner.does('rest', agents.get, { id: agent.id })).agent.message_count).toBe(0)
  })

  test('is stopped by another device on another node, with what was written', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const { run_id } = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Go on' })
    const answer = await puppet.asked()
    answer.say('So far')
    const line = await owner.line('/agents')
    await line.hears(runFrame, (frame) => frame.run_id === run_id && frame.t === 'chunk')
    const elsewhere = await owner.socket('/agents', server.urls.at(-1))
    expect((await owner.does(elsewhere, agents.active, {})).runs).toMatchObject([{ run_id, message: 'Go on' }])
    const { state } = await owner.does(elsewhere, agents.cancel, { run_id })
    expect(state).toBe('cancelled')
    expect(answer.signal.aborted).toBe(true)
    expect(await endOf(line, run_id)).toMatchObject({ t: 'cancelled', by: owner.account })
    expect((await owner.does('rest', agents.cancel, { run_id })).state).toBe('cancelled')
    const { chats } = await owner.does('rest', agents.history, { id: agent.id })
    expect(chats.at(-1)).toMatchObject({ content: 'So far', state: 'cancelled' })
    expect(framesOf(line, run_id).filter(isTerminal)).toHaveLength(1)
  })

  test('waits for the answer before it in the same conversation, and is told it', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const line = await owner.line('/agents')
    const first = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'First' })
    const answer = await puppet.asked()
    const second = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Second' })
    await line.hears(
      runFrame,
      (frame) => frame.run_id === second.run_id && frame.t === 'status' && frame.phase === 'queued',
    )
    answer.say('1')
    answer.end()
    await endOf(line, first.run_id)
    const next = await puppet.asked()
    expect(next.question.turns.slice(1).map(({ content }) => content)).toEqual(['First', '1', 'Second'])
    next.end()
    await endOf(line, second.run_id)
  })

  test('does not ask the store for each word of the answer that it waits for', heavy, async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const line = await owner.line('/agents')
    const first = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'First' })
    const answer = await puppet.asked()
    const second = await owner.does('socket', agents.run, { agent_id: agent.id, message: 'Second' })
    const find = vi.spyOn(Runs, 'findOne')
    onTestFinished(() => find.mockRestore())
    for (let word = 0; word < 20; word++) {
      answer.say(`${word} `)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    // Three a second, where another node works on the first.
    const looks = find.mock.calls.filter(([filter]) => /"\$lt"/.test(JSON.stringify(filter)))
    expect(looks.length).toBeLessThan(10)
    answer.end()
    await endOf(line, first.run_id)
    const next = await puppet.asked()
    next.end()
    await endOf(line, second.run_id)
  })

  solo('rests on the last ten messages of the conversation, and on none before', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const told: string[][] = []
    for (let at = 0; at < 7; at++) {
      const asked = owner.does('rest', agents.chat, { id, message: `Question ${at}` })
      const answer = await puppet.asked()
      told.push(answer.question.turns.slice(1).map(({ content }) => content))
      answer.say(`Answer ${at}`)
      answer.end()
      await asked
    }
    const said = Array.from({ length: 6 }, (_, at) => [`Question ${at}`, `Answer ${at}`]).flat()
    expect(told.at(-1)).toEqual([...said.slice(-10), 'Question 6'])
  })

  solo('is nobody else’s to read, to resume or to stop', async () => {
    const agent = await agentOf(await somebody(), { visibility: 'public' })
    const { run_id } = await alice.does('socket', agents.run, { agent_id: agent.id, message: 'Mine' })
    const answer = await puppet.asked()
    for (const operation of [agents.resume, agents.cancel])
      expect((await bob.refused('socket', operation, { run_id })).code).toBe('RUN_NOT_FOUND')
    expect((await bob.rest(`GET /api/agents/runs/${run_id}/frames`)).status).toBe(404)
    expect((await bob.does('rest', agents.history, { id: agent.id })).chats).toEqual([])
    expect((await bob.does('rest', agents.active, {})).runs).toEqual([])
    answer.end()
    await endOf(await alice.line('/agents'), run_id)
  })

  solo.each(['length', 'filtered'] as const)('that is cut off (%s) says so, then and later', async (reason) => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const asked = owner.does('rest', agents.chat, { id, message: 'Hi' })
    const answer = await puppet.asked()
    answer.say('Once upon a')
    answer.end(reason)
    const { run_id, cut_short } = await asked
    expect(cut_short).toBe(reason)
    const { frames } = await owner.does('socket', agents.resume, { run_id })
    expect(frames.at(-1)).toMatchObject({ t: 'done', message: 'Once upon a', cut_short: reason })
    await expect
      .poll(async () => (await owner.does('rest', agents.history, { id })).chats.at(-1))
      .toMatchObject({ content: 'Once upon a', state: 'done', cut_short: reason })
  })
})

describe('the last line of an answer', () => {
  solo.each(['length', 'filtered'] as const)('says that it was cut off (%s)', async (reason) => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const asked = linesAt(owner, `POST /api/agents/${agent.id}/chat`, { message: 'Hi', stream: true })
    const answer = await puppet.asked()
    answer.say('Once upon a')
    answer.end(reason)
    expect(await asked).toEqual([
      { type: 'chunk', text: 'Once upon a' },
      { type: 'done', message: 'Once upon a', scheduling: null, cut_short: reason, sessionId: expect.any(String) },
    ])
  })
})

describe('an agent', () => {
  solo.each(over)('O68: is made, read, listed with what a list has, changed and deleted, over %s', async (door) => {
    const owner = await somebody()
    const { agent } = await owner.does(door, agents.create, {
      name: '  Ada ',
      personality: 'Patient',
      tags: [' Maths ', 'maths', 'A'.repeat(30), '', 'b', 'c', 'd', 'e'],
    })
    expect(agent).toMatchObject({
      name: 'Ada',
      owner_address: owner.account,
      visibility: 'private',
      model: 'puppet',
      avatar_emoji: '🤖',
      tags: ['maths', 'a'.repeat(20), 'b', 'c', 'd'],
      web_search_enabled: false,
      x402_enabled: false,
      message_count: 0,
    })
    expect(agent.system_instructions).toMatch(/Ada[\s\S]*Patient/)
    const { agent: changed } = await owner.does(door, agents.update, {
      id: agent.id,
      avatar_emoji: '🦉',
      webSearchEnabled: true,
      personality: 'Brief',
    })
    expect(changed).toMatchObject({ avatar_emoji: '🦉', web_search_enabled: true, name: 'Ada' })
    expect(changed.system_instructions).toContain('Brief')
    const mcpServers = [{ id: 'foxes', name: 'Foxes', url: 'https://foxes.example/mcp' }]
    const said = { id: agent.id, systemInstructions: 'Say no.', mcpServers }
    const { agent: kept } = await owner.does(door, agents.update, said)
    expect(kept.mcp_servers).toHaveLength(1)
    expect(kept).toMatchObject({ system_instructions: 'Say no.', personality: 'Brief' })
    const { id, owner_address, name, personality, system_instructions, model, avatar_emoji, avatar_url } = kept
    const { visibility, message_count, tags, created_at, updated_at } = kept
    const listed = { id, owner_address, name, personality, system_instructions, model, avatar_emoji, avatar_url }
    // Only the answer about one agent has the rest of it, such as its tools.
    expect((await owner.does(door, agents.list, {})).agents).toEqual([
      { ...listed, visibility, message_count, tags, created_at, updated_at },
    ])
    expect((await owner.does(door, agents.get, { id: agent.id })).agent).toMatchObject(kept)
    await owner.does(door, agents.remove, { id: agent.id })
    expect((await owner.refused(door, agents.get, { id: agent.id })).code).toBe('AGENT_NOT_FOUND')
    expect((await owner.does(door, agents.list, {})).agents).toEqual([])
  })

  solo.each(over)('is made as the form of the page begins, where nothing else is said, over %s', async (door) => {
    const { agent } = await (await somebody()).does(door, agents.create, { name: 'Plain' })
    const { name: _, systemInstructions: __, model: ___, ...rest } = newFields
    expect(fieldsOf(agent)).toMatchObject(rest)
    expect(agent).toMatchObject({ use_knowledge_base: false, web_search_enabled: false })
  })

  test('is one of five at the most, of which a race over both doors makes no sixth (C3, 278); a deleted one makes room', async () => {
    const owner = await somebody()
    const tries = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        owner.tries(at % 2 === 0 ? 'rest' : 'socket', agents.create, { name: `Racer ${at}` }),
      ),
    )
    const outcomes = tries.map(outcomeOf)
    expect(outcomes.filter((outcome) => outcome === '200')).toHaveLength(5)
    expect(new Set(outcomes)).toEqual(new Set(['200', '400 AGENT_LIMIT_REACHED']))
    const [first] = (await owner.does('rest', agents.list, {})).agents
    await owner.does('rest', agents.remove, { id: first?.id ?? '' })
    await agentOf(owner)
    for (let at = 0; at < 6; at++) await agentOf(admin)
  })

  solo.each(over)(
    'has five tags at the most, each once and of 20 characters at the most (C3, 280), over %s',
    async (door) => {
      const owner = await somebody()
      const { agent } = await owner.does(door, agents.create, {
        name: 'Tagged',
        tags: ['Maths', 'maths ', 'MATHS', 'b'.repeat(21), 'c', 'd', 'e', 'f'],
      })
      expect(agent.tags).toEqual(['maths', 'b'.repeat(20), 'c', 'd', 'e'])
    },
  )

  solo.each(over)(
    'T21: takes no key that reaches the prototype, and is none the worse for it, over %s',
    async (door) => {
      const owner = await somebody()
      const { id } = await agentOf(owner)
      for (const json of [
        '{ "__proto__": { "visibility": "official" } }',
        '{ "constructor": { "prototype": { "visibility": "official" } } }',
        '{ "mcpServers": [{ "id": "a", "name": "A", "url": "https://tools.test/mcp", "headers": { "__proto__": "a" } }] }',
      ]) {
        const given = JSON.parse(json) as object
        expect(
          outcomeOf(await owner.tries(door, agents.create, Object.assign(JSON.parse(json), { name: 'Polluted' }))),
        ).toMatch(/^400 /)
        const changed =
          door === 'rest'
            ? await owner.rest(`PATCH /api/agents/${id}`, given)
            : await owner.ask('agent:update', Object.assign(JSON.parse(json), { id }), '/agents')
        expect(outcomeOf(changed)).toMatch(/^400 /)
      }
      expect(({} as { visibility?: string }).visibility).toBeUndefined()
      expect((await owner.does(door, agents.list, {})).agents.map(({ visibility }) => visibility)).toEqual(['private'])
    },
  )

  solo('has a name of its own among those of its owner', async () => {
    const owner = await somebody()
    const tries = await Promise.all(
      Array.from({ length: 10 }, () => owner.tries('rest', agents.create, { name: 'Twin' })),
    )
    expect(tries.map(outcomeOf).sort()).toEqual(['200', ...Array(9).fill('400 AGENT_EXISTS')])
    const other = await agentOf(owner)
    expect(outcomeOf(await owner.tries('rest', agents.update, { id: other.id, name: 'Twin' }))).toBe('400 AGENT_EXISTS')
  })

  solo('is seen by whom its visibility says, and its instructions by its owner alone', async () => {
    const owner = await somebody()
    const friend = await somebody()
    const { request } = await owner.does('rest', friends.request, { toAddress: friend.account })
    await friend.does('rest', friends.accept, { requestId: request.id })
    const { id } = await agentOf(owner, { systemInstructions: 'The secret is 42' })
    const seenBy = async (who: Person) => outcomeOf(await who.tries('rest', agents.get, { id }))
    const table = {
      private: ['404 AGENT_NOT_FOUND', '404 AGENT_NOT_FOUND'],
      friends: ['200', '403 AGENT_FRIENDS_ONLY'],
      public: ['200', '200'],
    } as const
    for (const [visibility, outcomes] of Object.entries(table)) {
      await owner.does('rest', agents.update, { id, visibility: visibility as keyof typeof table })
      expect([await seenBy(friend), await seenBy(bob)], visibility).toEqual(outcomes)
      const asked = await bob.tries('socket', agents.history, { id })
      expect(outcomeOf(asked)).toBe(outcomes[1])
    }
    expect(JSON.stringify(await bob.does('rest', agents.get, { id }))).not.toContain('secret')
  })

  solo('is changed and deleted by its owner alone; an official one by admins, who alone make it so', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner, { visibility: 'public' })
    for (const door of over) {
      expect(outcomeOf(await bob.tries(door, agents.update, { id, name: 'Taken' }))).toBe('403 AGENT_PRIVATE')
      expect(outcomeOf(await bob.tries(door, agents.remove, { id }))).toBe('403 AGENT_PRIVATE')
      expect(outcomeOf(await admin.tries(door, agents.update, { id, name: 'Taken' }))).toBe('403 AGENT_PRIVATE')
      expect(outcomeOf(await owner.tries(door, agents.update, { id, visibility: 'official' }))).toBe('403 FORBIDDEN')
    }
    const official = await agentOf(admin, { visibility: 'official', suggestedQuestions: ['What is new?'] })
    expect(official.suggested_questions).toEqual(['What is new?'])
    expect((await admin.does('rest', agents.list, { includeOfficial: true })).agents.map(({ id }) => id)).toContain(
      official.id,
    )
  })

  solo('that is official and of another admin is listed after the own ones, however old these are', async () => {
    const own = await agentOf(admin)
    const official = await agentOf(bob)
    await Agents.updateOne({ _id: official.id }, { $set: { visibility: 'official' } })
    const listed = (await admin.does('rest', agents.list, { includeOfficial: true })).agents
    const isOwn = listed.map(({ owner_address }) => owner_address === admin.account)
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining([own.id, official.id]))
    expect(isOwn.slice(isOwn.indexOf(false))).not.toContain(true)
    await Agents.deleteOne({ _id: official.id })
  })

  solo('takes nothing that its fields do not say', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const refused = [
      { model: 'gpt-unknown' },
      { visibility: 'secret' },
      { avatarEmoji: 'xx' },
      { avatarEmoji: '😀😀' },
      { avatarUrl: 'http://example.org/a.png' },
      { x402WalletAddress: `0x${'0'.repeat(40)}` },
      { x402PriceCents: 0 },
      { x402PriceCents: 10_001 },
      { x402PriceCents: 0.5 },
      { x402PriceCents: '100' },
      { x402Network: 'base' },
      { x402Enabled: true, x402Network: 'ethereum' },
      { x402Enabled: true },
      { x402_enabled: true, x402_network: 'base' },
      { avatarEmoji: '🦉', avatar_emoji: '🐙' },
      { tags: ['a'], avatar_url: null, avatarUrl: 'https://example.org/a.png' },
      { personality: ' ' },
      { personality: 'x'.repeat(1001) },
      { systemInstructions: 'x'.repeat(4001) },
      { name: '' },
      { name: 'x'.repeat(101) },
      { tags: [{}] },
      { suggestedQuestions: ['a', 'b', 'c', 'd', 'e'] },
    ]
    for (const change of refused)
      expect((await owner.rest(`PATCH /api/agents/${id}`, change)).status, JSON.stringify(change)).toBe(400)
    const before = await Agents.findOne({ _id: id }).lean()
    await owner.rest(`PATCH /api/agents/${id}`, {
      owner_address: bob.account,
      message_count: 9,
      id: 'x',
      created_at: 1,
    })
    expect({ ...(await Agents.findOne({ _id: id }).lean()), updated_at: null }).toEqual({ ...before, updated_at: null })
    const priced = await owner.does('rest', agents.update, { id, x402Enabled: true, x402_price_cents: 25 })
    expect(priced.agent).toMatchObject({ x402_enabled: true, x402_price_cents: 25, x402_network: 'base' })
    await owner.does('rest', agents.update, { id, x402Enabled: false })
    const again = { id, x402Enabled: true, x402_enabled: true, avatarEmoji: '🦉', avatar_emoji: '🦉' }
    expect((await owner.does('rest', agents.update, again)).agent).toMatchObject({
      x402_price_cents: 25,
      avatar_emoji: '🦉',
    })
    const unpriced = { name: 'Without a price', x402Enabled: true }
    expect((await owner.rest('POST /api/agents', unpriced)).status).toBe(400)
  })

  solo.each(over)('gives up what is set to null or to nothing, in either spelling, over %s', async (door) => {
    const owner = await somebody()
    const wallet = owner.account
    const sold = { x402Enabled: true, x402PriceCents: 5, x402WalletAddress: wallet }
    const { id } = await agentOf(owner, { ...sold, systemInstructions: ' ' })
    const { agent } = await owner.does(door, agents.get, { id })
    expect(agent).toMatchObject({ x402_wallet_address: wallet })
    expect('system_instructions' in agent && agent.system_instructions.trim()).not.toBe('')
    const camel = await owner.does(door, agents.update, { id, x402WalletAddress: null, avatarUrl: null })
    expect(camel.agent.x402_wallet_address).toBeNull()
    await owner.does(door, agents.update, { id, x402_wallet_address: wallet })
    const snake = await owner.does(door, agents.update, { id, x402_wallet_address: null, systemInstructions: '' })
    expect(snake.agent.x402_wallet_address).toBeNull()
    expect(snake.agent.system_instructions).not.toBe('')
  })

  test('keeps each of several changes at the same time', async () => {
    const [owner, again] = [await person(server, 'changes at once'), await person(server, 'changes at once')]
    for (let time = 0; time < 5; time++) {
      const { id } = await agentOf(owner, { visibility: 'public' })
      await Promise.all([
        owner.does('rest', agents.update, { id, visibility: 'private' }),
        again.does('rest', agents.update, { id, tags: ['new'] }),
        again.does('rest', agents.update, { id, avatarEmoji: '🦊' }),
      ])
      const { agent } = await owner.does('rest', agents.get, { id })
      expect(agent).toMatchObject({ visibility: 'private', tags: ['new'], avatar_emoji: '🦊' })
      await owner.does('rest', agents.remove, { id })
    }
  })

  solo('keeps an answer that was counted while it is changed', async () => {
    const { agent } = await alice.does('rest', agents.create, { name: 'Counted' })
    const update = Agents.findOneAndUpdate.bind(Agents)
    const spy = vi.spyOn(Agents, 'findOneAndUpdate').mockImplementationOnce(((...given: [never, never, never]) => ({
      lean: async () => {
        await Agents.updateOne({ _id: agent.id }, { $max: { message_count: 1 } })
        return update(...given).lean()
      },
    })) as never)
    const changed = await alice.does('rest', agents.update, { id: agent.id, tags: ['counted'] })
    spy.mockRestore()
    expect(changed.agent).toMatchObject({ tags: ['counted'], message_count: 1 })
    await alice.does('rest', agents.remove, { id: agent.id })
  })

  solo('is refused where it cannot be stored', async () => {
    const spy = vi.spyOn(Agents, 'create').mockRejectedValueOnce(new Error('The disk is full'))
    expect(outcomeOf(await alice.tries('rest', agents.create, { name: 'Nowhere' }))).toBe('500 INTERNAL_ERROR')
    spy.mockRestore()
  })

  solo.each(over)('has suggested questions of its own, official or not, over %s', async (door) => {
    const { agent } = await admin.does(door, agents.create, {
      ...{ name: `Asked over ${door}`, visibility: 'official', suggestedQuestions: ['Who are you?'] },
    } as const)
    const seen = async (visibility: 'private' | 'official') =>
      (await admin.does(door, agents.update, { id: agent.id, visibility })).agent.suggested_questions
    expect(agent.suggested_questions).toEqual(['Who are you?'])
    expect(await seen('private')).toEqual(['Who are you?'])
    expect(await seen('official')).toEqual(['Who are you?'])
    const { agents: all } = await bob.does(door, agents.list, { includeOfficial: true })
    expect(all.every(({ owner_address }) => owner_address === bob.account)).toBe(true)
    const { agents: ofAdmin } = await admin.does(door, agents.list, {})
    expect(ofAdmin.map(({ id }) => id)).toContain(agent.id)
    await admin.does(door, agents.remove, { id: agent.id })
  })

  solo('that was made by a call of which nobody knew the outcome is the one that the repeated call gives', async () => {
    const [app] = server.apps
    if (!app) throw new Error('There is a server')
    for (const who of [await somebody(), admin]) {
      const id = crypto.randomUUID()
      const name = `Twice ${id.slice(0, 8)}`
      const first = await createAgent(app.node, who.account, { name }, id)
      expect(await createAgent(app.node, who.account, { name }, id)).toMatchObject({ _id: first._id, name })
    }
  })

  solo('is official as long as an admin has it so: who made it and is none any more cannot change it', async () => {
    const official = await agentOf(admin, { visibility: 'official' })
    await Agents.updateOne({ _id: official.id }, { $set: { owner_address: bob.account } })
    expect(outcomeOf(await bob.tries('rest', agents.update, { id: official.id, name: 'Mine' }))).toBe(
      '403 AGENT_PRIVATE',
    )
    await admin.does('rest', agents.update, { id: official.id, tags: ['house'] })
  })

  solo.each(over)(
    'T09: is listed for its maker no more who is no admin any more, where it is official, over %s',
    async (door) => {
      const maker = await somebody()
      const mine = await agentOf(maker)
      const official = await agentOf(admin, { visibility: 'official', systemInstructions: 'The secret is 42' })
      await Agents.updateOne({ _id: official.id }, { $set: { owner_address: maker.account } })
      for (const includeOfficial of [true, false]) {
        const { agents: listed } = await maker.does(door, agents.list, { includeOfficial })
        expect(listed.map(({ id }) => id)).toEqual([mine.id])
      }
      const { agent } = await maker.does(door, agents.get, { id: official.id })
      expect(agent).toMatchObject({ is_own: false, id: official.id })
      expect(Object.keys(agent)).not.toContain('system_instructions')
      await Agents.deleteOne({ _id: official.id })
    },
  )

  solo.each(over)('that is stored wrongly is shown to its owner as no card, over %s', async (door) => {
    const owner = await somebody()
    const { id } = await agentOf(owner, { visibility: 'public' })
    expect((await owner.does(door, agents.get, { id })).agent).toMatchObject({
      is_own: true,
      system_instructions: expect.any(String),
    })
    expect((await bob.does(door, agents.get, { id })).agent).toMatchObject({ is_own: false })
    await Agents.collection.updateOne({ _id: id as never }, { $set: { x402_pricing_mode: 7 } })
    expect(outcomeOf(await owner.tries(door, agents.get, { id }))).toBe('500 INTERNAL_ERROR')
    await Agents.deleteOne({ _id: id })
  })

  solo.each(over)(
    'that is deleted takes its chats along, and stops what is being written (C3, 269), over %s',
    async (door) => {
      const owner = await somebody()
      const { id } = await agentOf(owner, { visibility: 'public' })
      const before = await alice.does('socket', agents.run, { agent_id: id, message: 'Before' })
      const first = await puppet.asked()
      first.say('Good day.')
      first.end()
      await expect.poll(() => Runs.countDocuments({ _id: before.run_id, state: 'done' })).toBe(1)
      expect(await RunFrames.countDocuments({ run_id: before.run_id })).toBeGreaterThan(0)
      const { run_id } = await alice.does('socket', agents.run, { agent_id: id, message: 'Hello' })
      const answer = await puppet.asked()
      await owner.does(door, agents.remove, { id })
      await expect.poll(() => answer.signal.aborted).toBe(true)
      const end = await endOf(await alice.line('/agents'), run_id)
      expect(end).toMatchObject({ t: 'cancelled', by: owner.account })
      await expect.poll(() => Runs.countDocuments({ agent_id: id })).toBe(0)
      await expect.poll(() => RunFrames.countDocuments({ run_id: { $in: [run_id, before.run_id] } })).toBe(0)
    },
  )

  test('forgets a conversation when it is told to, also the part that is being written', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const line = await owner.line('/agents')
    const first = await owner.does('socket', agents.run, { agent_id: id, message: 'My secret' })
    const answer = await puppet.asked()
    answer.say('Noted: secret')
    answer.end()
    await endOf(line, first.run_id)
    const second = await owner.does('socket', agents.run, { agent_id: id, message: 'And the secret?' })
    const next = await puppet.asked()
    next.say('The secret')
    await owner.does('rest', agents.forget, { id })
    await endOf(line, second.run_id)
    expect((await owner.does('rest', agents.history, { id })).chats).toEqual([])
    await expect
      .poll(async () => JSON.stringify([await Runs.find({ agent_id: id }).lean(), await framesOfRuns(id)]))
      .not.toContain('secret')
    for (const { run_id } of [first, second]) {
      expect((await owner.refused('socket', agents.resume, { run_id })).code).toBe('RUN_NOT_FOUND')
      expect((await owner.refused('rest', agents.frames, { id: run_id })).code).toBe('RUN_NOT_FOUND')
      expect((await owner.does('socket', agents.cancel, { run_id })).state).not.toBe('running')
    }
  })
})

describe('a question or a change is refused', () => {
  solo.each(over)('that has too long a name, and says so, over %s', async (door) => {
    const owner = await somebody()
    const refusal = await owner.refused(door, agents.create, { name: 'x'.repeat(101) })
    expect(refusal).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('at most 100 characters'),
    })
    const none = await owner.refused(door, agents.create, { name: ' ' })
    expect(none.message).toContain('Name is required')
  })

  solo.each(over)('over %s, by one code for each reason', async (door) => {
    const owner = await somebody()
    const stranger = await somebody()
    const hidden = await agentOf(owner)
    const forFriends = await agentOf(owner, { visibility: 'friends' })
    const message = 'Hi'
    const asks = (id: string) => [
      stranger.tries(door, agents.history, { id }),
      stranger.tries(door, agents.conversations, { id }),
      stranger.tries(door, agents.get, { id }),
      ...(door === 'socket'
        ? [stranger.tries(door, agents.run, { agent_id: id, message })]
        : [
            stranger.tries(door, agents.chat, { id, message }),
            stranger.tries(door, agents.chatStream, { id, message, stream: true }),
          ]),
    ]
    const outcomes = async (id: string) => new Set((await Promise.all(asks(id))).map(outcomeOf))
    expect(await outcomes('nobody')).toEqual(new Set(['404 AGENT_NOT_FOUND']))
    expect(await outcomes(hidden.id)).toEqual(new Set(['404 AGENT_NOT_FOUND']))
    expect(await outcomes(forFriends.id)).toEqual(new Set(['403 AGENT_FRIENDS_ONLY']))
    expect(outcomeOf(await stranger.tries(door, agents.forget, { id: 'nobody' }))).toBe('404 AGENT_NOT_FOUND')
    expect(outcomeOf(await stranger.tries(door, agents.forget, { id: hidden.id }))).toBe('404 AGENT_NOT_FOUND')
    for (const change of [
      stranger.tries(door, agents.update, { id: 'nobody', name: 'x' }),
      stranger.tries(door, agents.remove, { id: 'nobody' }),
    ])
      expect(outcomeOf(await change)).toBe('404 AGENT_NOT_FOUND')
    expect(outcomeOf(await owner.tries(door, agents.create, { name: 'New', model: 'other' }))).toBe('400 INVALID_MODEL')
    expect(outcomeOf(await owner.tries(door, agents.update, { id: hidden.id, model: 'other' }))).toBe(
      '400 INVALID_MODEL',
    )
    const inward = [{ id: 'inward', name: 'Inward', url: 'https://127.0.0.1/mcp' }]
    expect(outcomeOf(await owner.tries(door, agents.create, { name: 'New', mcpServers: inward }))).toBe(
      '400 INVALID_PARAMETER',
    )
    const run = { run_id: 'nobody' }
    expect(outcomeOf(await owner.tries(door, agents.cancel, run))).toBe('404 RUN_NOT_FOUND')
    if (door === 'socket') expect(outcomeOf(await owner.tries(door, agents.resume, run))).toBe('404 RUN_NOT_FOUND')
    await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: true })
    for (const tried of [
      owner.tries(door, agents.create, { name: 'New' }),
      owner.tries(door, agents.update, { id: hidden.id, name: 'New' }),
      owner.tries(door, agents.testTool, { id: hidden.id, apiName: 'One' }),
      owner.tries(door, agents.detectApi, { url: 'https://example.org/graphql' }),
      ...(door === 'socket'
        ? [owner.tries(door, agents.run, { agent_id: hidden.id, message })]
        : [
            owner.tries(door, agents.chat, { id: hidden.id, message }),
            owner.tries(door, agents.chatStream, { id: hidden.id, message, stream: true }),
          ]),
    ])
      expect(outcomeOf(await tried)).toBe('403 SUSPENDED')
  })

  solo.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)('where the model answers %s', async (code) => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const asked = owner.tries('rest', agents.chat, { id, message: 'Hi' })
    const answer = await puppet.asked()
    answer.fail(new AppError(code))
    const error = { status: 500, code, message: 'Failed to generate response' }
    expect(await asked).toEqual({ ok: false, error })
  })

  solo.each(['MODEL_BUSY', 'CONTEXT_TOO_LONG', 'OF_NO_VERSION'])('where the model says why (%s)', async (failure) => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const why = new AppError('UPSTREAM_ERROR', { details: { failure } })
    const isKnown = failure !== 'OF_NO_VERSION'
    const told = isKnown ? failure : 'UPSTREAM_ERROR'
    const asked = owner.rest(`POST /api/agents/${id}/chat`, { message: 'Hi' })
    const waited = await puppet.asked()
    waited.fail(why)
    expect(await asked).toMatchObject({
      status: 500,
      body: { error: 'Failed to generate response', code: 'UPSTREAM_ERROR', ...(isKnown ? { failure } : {}) },
    })
    const streamed = linesAt(owner, `POST /api/agents/${id}/chat`, { message: 'Hi', stream: true })
    ;(await puppet.asked()).fail(why)
    expect((await streamed).at(-1)).toEqual({ type: 'error', error: 'Failed to generate response', code: told })
    const { run_id } = await owner.does('socket', agents.run, { agent_id: id, message: 'And now?' })
    const answer = await puppet.asked()
    answer.say('Half')
    answer.fail(why)
    const end = await endOf(await owner.line('/agents'), run_id)
    expect(end).toMatchObject({ t: 'error', code: told, text: 'Failed to generate response' })
    for (const door of over)
      await expect
        .poll(async () => (await owner.does(door, agents.history, { id })).chats.at(-1))
        .toMatchObject({ content: 'Half', state: 'failed', error_code: told })
  })

  solo.each(['', ' \n '])('where the model says nothing (%j), with what it said', async (text) => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const asked = owner.tries('rest', agents.chat, { id, message: 'Hi' })
    const answer = await puppet.asked()
    if (text !== '') answer.say(text)
    answer.end()
    expect(outcomeOf(await asked)).toBe('500 UPSTREAM_ERROR')
    await expect
      .poll(async () => (await owner.does('rest', agents.history, { id })).chats.at(-1))
      .toMatchObject({ content: text, error_code: 'MODEL_SILENT' })
  })

  test('where nobody works on it any more, and the one who still does cannot add to it', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const asked = owner.tries('rest', agents.chat, { id, message: 'Hi' })
    const answer = await puppet.asked()
    answer.say('Half')
    await expect.poll(() => Runs.countDocuments({ agent_id: id })).toBe(1)
    const run = await Runs.findOne({ agent_id: id }).lean<StoredRun>()
    if (!run) throw new Error('There is no run')
    await expect.poll(async () => (await framesFrom(run._id, 0)).map(({ t }) => t)).toContain('chunk')
    const [app] = server.apps
    if (app) await endLostRun({ ...app.node, id: 'another' }, run)
    answer.say(' and more')
    expect(outcomeOf(await asked)).toBe('500 RUN_LOST')
    await new Promise((resolve) => setTimeout(resolve, 300))
    const { frames, state } = await owner.does('socket', agents.resume, { run_id: run._id })
    expect(state).toBe('failed')
    expect(frames.filter(isTerminal)).toMatchObject([
      { t: 'error', code: 'RUN_LOST', partial_message_id: run.message_id },
    ])
    expect(textOf(frames)).toBe('Half')
    const { chats } = await owner.does('rest', agents.history, { id })
    expect(chats.at(-1)).toMatchObject({ content: 'Half', error_code: 'RUN_LOST' })
  })
})

describe('the pages that an answer rests on', () => {
  const fox = { url: 'https://fox.example.com/', title: 'Foxes and hens' }
  const given = async () => {
    const answer = await puppet.asked()
    answer.say('A fox.')
    answer.cite(fox.url, ' Foxes\n and\u202e hens')
    for (const url of [
      'javascript:alert(1)',
      'https://127.0.0.1/',
      'http://router/',
      'https://me:key@fox.example.com/',
      'fox',
    ])
      answer.cite(url, 'No page to be shown')
    answer.end()
  }

  solo('are told in frames, in the history, and with the answer that was waited for', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const asked = owner.does('rest', agents.chat, { id, message: 'Who?' })
    await given()
    const { sources, run_id } = await asked
    expect(sources).toEqual([fox])
    const { frames } = await owner.does('socket', agents.resume, { run_id })
    expect(frames.filter(({ t }) => t === 'source')).toEqual([{ run_id, idx: expect.any(Number), t: 'source', ...fox }])
    for (const door of over) {
      const { chats } = await owner.does(door, agents.history, { id })
      expect(chats).toMatchObject([{ sources: [] }, { content: 'A fox.', sources: [fox] }])
    }
    await owner.does('rest', agents.forget, { id })
    expect(JSON.stringify(await Runs.find({ agent_id: id }).lean())).not.toContain('fox')
  })

  solo('are told in the last line, and nowhere where there are none', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const read = () => linesAt(owner, `POST /api/agents/${id}/chat`, { message: 'Who?', stream: true })
    const asked = read()
    await given()
    expect(await asked).toEqual([
      { type: 'chunk', text: 'A fox.' },
      { type: 'done', message: 'A fox.', scheduling: null, sources: [fox], sessionId: expect.any(String) },
    ])
    const again = read()
    const answer = await puppet.asked()
    answer.say('A hen.')
    answer.end()
    expect((await again).at(-1)).toEqual({
      ...{ type: 'done', message: 'A hen.', scheduling: null },
      sessionId: expect.any(String),
    })
  })
})

describe('an answer whose end is stored, but not what follows from it', () => {
  solo.each(over)('is whole in the history, and is not being written any more, over %s', async (door) => {
    const [app] = server.apps
    if (!app) throw new Error('There is a server')
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const run = newRun(app.node, { agent: id, account: owner.account, place: 'chat', message: 'Hi' })
    const usage = { input_tokens: 1, output_tokens: 2, ms: 3 }
    const last = { t: 'done', message: 'Good day', message_id: run.message_id, usage, scheduling: null } as const
    await Runs.create(run)
    await RunFrames.create(
      storedFrames(run._id, 0, [{ t: 'chunk', off: 0, text: 'Good day' }], app.node.id, Date.now()),
    )
    expect((await owner.does(door, agents.active, {})).runs).toMatchObject([{ run_id: run._id }])
    expect((await owner.does(door, agents.history, { id })).chats).toMatchObject([{ role: 'user' }])
    await RunFrames.create(storedFrames(run._id, 1, [last], app.node.id, Date.now()))
    expect((await owner.does(door, agents.history, { id })).chats).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Good day', state: 'done' },
    ])
    expect((await owner.does(door, agents.active, {})).runs).toEqual([])
  })

  solo('is told as ended to who resumes it', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const line = await owner.line('/agents')
    const settling = vi.spyOn(Runs, 'updateOne')
    onTestFinished(() => settling.mockRestore())
    settling.mockImplementationOnce(() => {
      throw new Error('The store is away for a moment')
    })
    const { run_id } = await owner.does('socket', agents.run, { agent_id: id, message: 'Hi' })
    const answer = await puppet.asked()
    answer.say('Good day')
    answer.end()
    await endOf(line, run_id)
    expect(await owner.does('socket', agents.resume, { run_id })).toMatchObject({ state: 'done', complete: true })
  })
})

solo.each(over)('of more answers than are listed it is told that there are more, over %s', async (door) => {
  const [app] = server.apps
  if (!app) throw new Error('There is a server')
  const owner = await somebody()
  const { id } = await agentOf(owner)
  const ask = { agent: id, account: owner.account, place: 'chat', message: 'Hi' }
  await Runs.insertMany(Array.from({ length: 50 }, () => newRun(app.node, ask)))
  expect(await owner.does(door, agents.active, {})).toMatchObject({ has_more: false })
  await Runs.create(newRun(app.node, ask))
  const { runs, has_more } = await owner.does(door, agents.active, { agent_id: id })
  expect([runs.length, has_more]).toEqual([50, true])
  // The first frame of each is on its way.
  expect(new Set(runs.map(({ head_idx }) => head_idx))).toEqual(new Set([0]))
  await Runs.deleteMany({ agent_id: id })
})

describe('a run that its node lost sight of', () => {
  /** One as it stands in the store while it is written, with some of its answer. */
  async function storedRun(more: Partial<StoredRun>): Promise<StoredRun> {
    const [app] = server.apps
    if (!app) throw new Error('There is a server')
    const owner = await somebody()
    const { id } = await agentOf(owner)
    const run = { ...newRun(app.node, { agent: id, account: owner.account, place: 'chat', message: 'Hi' }), ...more }
    await Runs.create(run)
    await RunFrames.create(storedFrames(run._id, 0, [{ t: 'chunk', off: 0, text: 'The secret' }], 'gone', Date.now()))
    return run
  }

  test('is ended by that node, with what was written; one that it is writing is not', heavy, async () => {
    const asker = await somebody()
    const { id } = await agentOf(asker)
    const { run_id } = await asker.does('socket', agents.run, { agent_id: id, message: 'Go on' })
    const answer = await puppet.asked()
    const created_at = new Date(Date.now() - 60_000)
    await Runs.updateOne({ _id: run_id }, { $set: { created_at } })
    const run = await storedRun({ created_at })
    await expect
      .poll(() => Runs.findOne({ _id: run._id }).lean(), { timeout: 40_000 })
      .toMatchObject({ state: 'failed', error_code: 'RUN_LOST', content: 'The secret' })
    answer.say('I have.')
    answer.end()
    expect(await endOf(await asker.line('/agents'), run_id)).toMatchObject({ t: 'done', message: 'I have.' })
    await expect
      .poll(async () => (await asker.does('rest', agents.history, { id })).chats.at(-1))
      .toMatchObject({ state: 'done', content: 'I have.' })
  })

  solo('keeps no text where its conversation was deleted meanwhile', async () => {
    const [app] = server.apps
    const run = await storedRun({ place: 'forgotten' })
    if (app) await endLostRun({ ...app.node, id: 'another' }, run)
    expect(await Runs.findOne({ _id: run._id }).lean()).toMatchObject({ state: 'failed', content: '' })
    expect(await RunFrames.countDocuments({ run_id: run._id })).toBe(0)
  })
})

async function framesOfRuns(agent: string) {
  const runs = await Runs.find({ agent_id: agent }).lean<{ _id: string }[]>()
  return RunFrames.find({ run_id: { $in: runs.map(({ _id }) => _id) } }).lean()
}

test.each(over)(
  'what is asked is told to all connections of who asked once, and to nobody else, over %s',
  async (door) => {
    const who = await somebody()
    const elsewhere = await (await person(server, `somebody ${people}`)).line('/agents')
    const others = await bob.line('/agents')
    const { id } = await agentOf(who, { visibility: 'public' })
    const client_run_id = crypto.randomUUID()
    const question = { message: 'Hello?', client_run_id }
    const asking =
      door === 'rest'
        ? who.does('rest', agents.chat, { id, ...question })
        : who.does('socket', agents.run, { agent_id: id, ...question })
    const answer = await puppet.asked()
    const told = await elsewhere.hears(runBegun, ({ agent_id }) => agent_id === id)
    expect(told).toEqual({ run_id: expect.any(String), agent_id: id, client_run_id, sessionId: 'main' })
    for (let time = 0; time < 3; time++) await who.does('socket', agents.run, { agent_id: id, ...question })
    answer.say('Hello')
    answer.end()
    await asking
    expect(others.all(runBegun).filter(({ agent_id }) => agent_id === id)).toEqual([])
    await who.does(elsewhere, agents.active, {})
    expect(elsewhere.all(runBegun).filter(({ agent_id }) => agent_id === id)).toEqual([told])
  },
)
