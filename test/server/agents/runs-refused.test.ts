// Modes: embedded, two-nodes-redis
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { Runs } from '#server/domains/agents/runs/model'
import { runsHere } from '#server/domains/agents/runs/relay'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { isTerminal } from '#shared/api/agents/run-frames'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { friends } from '#shared/api/people/friends'
import { type Booted, boot } from '#test/support/boot'
import { befriend, channelOf, type Door, outcomeOf, over, type Person, person, say } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

const puppet = puppetModel()
let server: Booted
let admin: Person
let made = 0

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppet.model },
  })
  admin = await person(server, 'admin')
})
afterAll(() => server.close())
afterEach(async () => {
  vi.restoreAllMocks()
  for (const app of server.apps) await expect.poll(() => runsHere(app.node).size).toBe(0)
})

const somebody = () => person(server, `somebody ${++made}`)
const agentOf = async (owner: Person, more: object = {}): Promise<string> =>
  (await owner.does('rest', agents.create, { name: `Agent ${++made}`, visibility: 'public', ...more })).agent.id
const stateOf = async (filter: object) => (await Runs.findOne(filter).lean())?.state

/** Asks over one door, and waits for no more than that it was taken or refused. */
const asks = (door: Door, who: Person, id: string, message = 'Hello?') =>
  door === 'socket'
    ? who.tries('socket', agents.run, { agent_id: id, message })
    : who.tries('rest', agents.chat, { id, message })

interface Scene {
  owner: Person
  asker: Person
  agent: string
}
type Act = (scene: Scene) => Promise<unknown>
const suspends = (who: 'owner' | 'asker'): Act => {
  return (scene) => admin.does('rest', accounts.suspend, { userAddress: scene[who].account, ban: true })
}

describe('T13: who is refused while the question is being stored', () => {
  /** What is being answered at the same time, and stopped by the same act: once it is, nobody looks for runs any more. */
  const ofAsker = ({ owner, asker }: Scene) => agentOf(owner).then((id) => ({ who: asker, id }))
  const ofOther = async ({ agent }: Scene) => ({ who: await somebody(), id: agent })
  const acts: Record<string, { act: Act; beside: (scene: Scene) => Promise<{ who: Person; id: string }> }> = {
    'the owner blocks the asker': {
      act: ({ owner, asker }) => owner.does('rest', social.block, { userAddress: asker.account }),
      beside: ofAsker,
    },
    'the asker blocks the owner': {
      act: ({ owner, asker }) => asker.does('rest', social.block, { userAddress: owner.account }),
      beside: ofAsker,
    },
    'the asker is suspended': { act: suspends('asker'), beside: ofAsker },
    'the owner is suspended': { act: suspends('owner'), beside: ofOther },
    'the agent is deleted': {
      act: ({ owner, agent }) => owner.does('rest', agents.remove, { id: agent }),
      beside: ofOther,
    },
  }

  test.each(Object.entries(acts).flatMap(([what, given]) => over.map((door) => [what, door, given] as const)))(
    'is not answered: %s, over %s',
    async (_what, door, { act, beside }) => {
      const [owner, asker] = [await somebody(), await somebody()]
      const scene = { owner, asker, agent: await agentOf(owner) }
      const { who, id } = await beside(scene)
      const open = await who.does('socket', agents.run, { agent_id: id, message: 'And I?' })
      await puppet.asked()
      const asked = vi.spyOn(puppet.model, 'answer')
      const create = Runs.create.bind(Runs)
      let stored = ''
      vi.spyOn(Runs, 'create').mockImplementationOnce((async (run: { _id: string }) => {
        await act(scene)
        await expect.poll(() => stateOf({ _id: open.run_id })).not.toBe('running')
        stored = run._id
        return create(run as never)
      }) as never)
      const answered = asks(door, asker, scene.agent)
      await expect.poll(() => stored).not.toBe('')
      await expect.poll(() => stateOf({ _id: stored, state: { $ne: 'cancelled' } }), { timeout: 5_000 }).toBeUndefined()
      for (const app of server.apps) await expect.poll(() => runsHere(app.node).has(stored)).toBe(false)
      expect(asked).not.toHaveBeenCalled()
      await answered
    },
  )
})

describe('T13: a question that waits for its turn', () => {
  /** Two questions of one conversation: the first is being answered, the second waits. */
  async function waiting(more: object = {}) {
    const [owner, asker] = [await somebody(), await somebody()]
    const agent = await agentOf(owner, { systemInstructions: 'Speak of cats.', ...more })
    await asker.does('socket', agents.run, { agent_id: agent, message: 'First?' })
    const first = await puppet.asked()
    const { run_id } = await asker.does('socket', agents.run, { agent_id: agent, message: 'Second?' })
    return { owner, asker, agent, first, run_id }
  }

  solo.each(over)('is answered by the agent as it is then, changed over %s', async (door) => {
    const { owner, agent, first, run_id } = await waiting({ webSearchEnabled: true })
    await owner.does(door, agents.update, { id: agent, systemInstructions: 'Speak of dogs.', webSearchEnabled: false })
    first.say('Cats.')
    first.end()
    const second = await puppet.asked()
    expect(second.question.turns[0]?.content).toContain('Speak of dogs.')
    expect(second.question.turns[0]?.content).not.toContain('cats')
    expect(second.question.webSearch).toBe(false)
    second.say('Dogs.')
    second.end()
    await expect.poll(() => stateOf({ _id: run_id })).toBe('done')
  })

  solo('is not given to the model where it is refused by then', async () => {
    const { agent, first, run_id } = await waiting()
    const asked = vi.spyOn(puppet.model, 'answer')
    // As if the node of the change had died before it notified anybody.
    await Agents.updateOne({ _id: agent }, { $set: { visibility: 'private' } })
    first.say('Yes.')
    first.end()
    await expect.poll(() => stateOf({ _id: run_id })).toBe('cancelled')
    expect(asked).not.toHaveBeenCalled()
  })
})

describe('T13: who may not ask any more while the answer is written', () => {
  /** An answer that its asker reads at the first node, and that its owner does not see. */
  async function written(visibility: 'public' | 'friends') {
    const owner = await personAtLast()
    const asker = await person(server, `somebody ${++made}`, server.url)
    await befriend(owner, asker)
    const agent = await agentOf(owner, { visibility })
    const line = await asker.line('/agents')
    const { run_id } = await asker.does(line, agents.run, { agent_id: agent, message: 'Hello?' })
    const answer = await puppet.asked()
    answer.say('Half ')
    await line.hears(runFrame, (frame) => frame.run_id === run_id && frame.t === 'chunk')
    return { owner, asker, agent, line, run_id, answer }
  }
  const personAtLast = () => person(server, `somebody ${++made}`, server.urls.at(-1))

  const changes: Record<
    string,
    { visibility: 'public' | 'friends'; act: (scene: Scene, door: Door) => Promise<unknown> }
  > = {
    'the agent becomes private': {
      visibility: 'public',
      act: ({ owner, agent }, door) => owner.does(door, agents.update, { id: agent, visibility: 'private' }),
    },
    'the owner ends the friendship': {
      visibility: 'friends',
      act: ({ owner, asker }) => owner.does('rest', friends.removeByAddress, { friendAddress: asker.account }),
    },
    'the asker ends the friendship': {
      visibility: 'friends',
      act: ({ owner, asker }) => asker.does('rest', friends.removeByAddress, { friendAddress: owner.account }),
    },
  }

  test.each(Object.entries(changes).flatMap(([what, given]) => over.map((door) => [what, door, given] as const)))(
    'is told no more than was written, whichever node answers: %s, over %s',
    async (_what, door, { visibility, act }) => {
      const { owner, asker, agent, line, run_id, answer } = await written(visibility)
      const own = await owner.does('socket', agents.run, { agent_id: agent, message: 'And I?' })
      const ofOwner = await puppet.asked()
      await act({ owner, asker, agent }, door)
      const last = await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
      expect(last).toMatchObject({ t: 'cancelled' })
      expect(answer.signal.aborted).toBe(true)
      await expect
        .poll(() => Runs.findOne({ _id: run_id }).lean())
        .toMatchObject({ content: 'Half ', state: 'cancelled' })
      const { chats } = await asker.does(door, agents.history, { id: agent })
      expect(chats.map(({ content }) => content)).toEqual(['Hello?', 'Half '])
      expect(outcomeOf(await asks(door, asker, agent))).toMatch(/^(403|404) AGENT_/)
      ofOwner.say('Mine')
      ofOwner.end()
      await expect.poll(() => stateOf({ _id: own.run_id })).toBe('done')
    },
  )

  solo.each(over)('is who is no friend, where the agent becomes for friends alone, over %s', async (door) => {
    const { owner, agent, run_id, answer } = await written('public')
    const stranger = await somebody()
    const other = await stranger.does('socket', agents.run, { agent_id: agent, message: 'And I?' })
    await puppet.asked()
    await owner.does(door, agents.update, { id: agent, visibility: 'friends' })
    await expect.poll(() => stateOf({ _id: other.run_id })).toBe('cancelled')
    answer.say('and whole')
    answer.end()
    await expect.poll(() => stateOf({ _id: run_id })).toBe('done')
  })
})

describe('T13: the answer to a question in a room', () => {
  solo.each(over)('is reached by none of the doors of a conversation, over %s', async (door) => {
    const asker = await somebody()
    const guide = (await admin.does('rest', agents.create, { name: `Guide ${++made}`, visibility: 'official' })).agent
    const room = await channelOf(asker)
    await admin.does('rest', agents.joinRoom, { id: guide.id, channelType: 'channel', channelId: room.id })
    const asked = await say(asker, room, `@[${guide.name}](${guide.id}) hello`)
    const answer = await puppet.asked()
    answer.say('A secret ')
    const client_run_id = `${asked.id}:${guide.id}`
    const run = await Runs.findOne({ client_run_id }).lean()
    const run_id = run?._id ?? ''
    const again = { message: run?.message ?? '', client_run_id }
    const reached = async () => [
      door === 'socket'
        ? outcomeOf(await asker.tries(door, agents.run, { agent_id: guide.id, ...again }))
        : outcomeOf(await asker.tries(door, agents.chat, { id: guide.id, ...again })),
      outcomeOf(await asker.tries('socket', agents.resume, { run_id })),
      outcomeOf(await asker.tries(door, agents.cancel, { run_id })),
      outcomeOf(await asker.rest(`GET /api/agents/runs/${run_id}/frames`)),
    ]
    const refused = ['409 CONFLICT', ...Array(3).fill('404 RUN_NOT_FOUND')]
    expect(await reached()).toEqual(refused)
    expect(await stateOf({ _id: run_id })).toBe('running')
    answer.end()
    await expect.poll(() => stateOf({ _id: run_id })).toBe('done')
    expect(await reached()).toEqual(refused)
  })
})
