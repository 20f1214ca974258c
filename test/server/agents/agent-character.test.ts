// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { agents } from '#shared/api/agents/agents'
import { payments } from '#shared/api/payments/payments'
import { type Booted, boot } from '#test/support/boot'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'

const puppet = puppetModel()
const other = puppetModel()
let server: Booted
let owner: Person
let made = 0
beforeAll(async () => {
  const model = { ...puppet.model, others: [{ ...other.model, name: 'other' }] }
  server = await boot({ environment: { BETA: 'open' }, services: { model } })
})
afterAll(() => server.close())

/** Each of another owner, as an owner has five. */
async function agentOf() {
  owner = await person(server, `maker ${++made}`)
  return (await owner.does('rest', agents.create, { name: 'Agent', visibility: 'public' })).agent
}

async function questionTo(id: string, { asked }: ReturnType<typeof puppetModel>) {
  const answered = owner.does('rest', agents.chat, { id, message: 'Hi' })
  const answer = await asked()
  answer.say('Yes')
  answer.end()
  await answered
  return answer.question
}

describe('an agent', () => {
  test.each(over)('has a greeting and questions to begin with, which everybody sees, over %s', async (door) => {
    const { id } = await agentOf()
    const set = { greeting: 'Welcome!', suggestedQuestions: ['Who are you?'] }
    const { agent } = await owner.does(door, agents.update, { id, ...set })
    expect(agent).toMatchObject({ greeting: 'Welcome!', own_questions: ['Who are you?'] })
    const seen = { greeting: 'Welcome!', suggested_questions: ['Who are you?'] }
    const stranger = await person(server, `stranger over ${door}`)
    expect((await stranger.does(door, agents.get, { id })).agent).toMatchObject(seen)
    expect(await stranger.does(door, payments.agent, { id })).toMatchObject(seen)
    const cleared = await owner.does(door, agents.update, { id, greeting: '', suggestedQuestions: null })
    expect(cleared.agent).toMatchObject({ greeting: '', own_questions: null })
    expect(cleared.agent.suggested_questions).toHaveLength(4)
  })

  test.each(over)('answers as freely as its owner says, and as usual again, over %s', async (door) => {
    const { id } = await agentOf()
    expect((await questionTo(id, puppet)).temperature).toBe(0.7)
    expect((await owner.does(door, agents.update, { id, temperature: 1.5 })).agent.temperature).toBe(1.5)
    expect((await questionTo(id, puppet)).temperature).toBe(1.5)
    expect((await owner.does(door, agents.update, { id, temperature: null })).agent.temperature).toBeNull()
    expect((await questionTo(id, puppet)).temperature).toBe(0.7)
    for (const temperature of [-0.1, 2.1])
      expect(outcomeOf(await owner.tries(door, agents.update, { id, temperature }))).toBe('400 VALIDATION_ERROR')
  })

  test.each(over)(
    'is answered by a model of this server, of those that its owner can choose, over %s',
    async (door) => {
      const { id } = await agentOf()
      const { agent } = await owner.does(door, agents.update, { id, model: 'other' })
      expect(agent).toMatchObject({ model: 'other', models: ['puppet', 'other'] })
      expect((await questionTo(id, other)).turns.at(-1)?.content).toBe('Hi')
      expect(outcomeOf(await owner.tries(door, agents.update, { id, model: 'no such' }))).toBe('400 INVALID_MODEL')
    },
  )

  test('is answered by the usual model where its own is configured no more', async () => {
    const { id } = await agentOf()
    await Agents.updateOne({ _id: id }, { $set: { model: 'gone' } })
    expect((await owner.does('rest', agents.get, { id })).agent.model).toBe('puppet')
    await questionTo(id, puppet)
  })

  test('of an older version has none of these', async () => {
    const { id } = await agentOf()
    await Agents.updateOne({ _id: id }, { $unset: { greeting: 1, temperature: 1, model: 1 } })
    const { agent } = await owner.does('rest', agents.get, { id })
    expect(agent).toMatchObject({ greeting: '', temperature: null, model: 'puppet' })
  })
})
