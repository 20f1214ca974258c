// Modes: embedded, two-nodes, two-nodes-redis
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Runs } from '#server/domains/agents/runs/model'
import { agents } from '#shared/api/agents'
import { messages } from '#shared/api/messages'
import { type Booted, boot } from '#test/support/boot'
import { type Answer, channelOf, outcomeOf, type Person, person, say } from '#test/support/people'
import { type PuppetAnswer, puppetModel } from '#test/support/puppet-model'
import { wallet } from '#test/support/wallet'

const puppet = puppetModel()
let server: Booted
let owner: Person
let admin: Person
let made = 0

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppet.model },
  })
  owner = await person(server, 'owner')
  admin = await person(server, 'admin')
})
afterAll(() => server.close())
afterEach(async () => {
  vi.restoreAllMocks()
  // What was answered by nobody is asked of nobody else.
  await expect.poll(() => Runs.countDocuments({ state: 'running' })).toBe(0)
})

const somebody = () => person(server, `somebody ${++made}`)
const publicAgent = async (visibility: 'public' | 'official' = 'public') => {
  const who = visibility === 'official' ? admin : await somebody()
  return (await who.does('rest', agents.create, { name: `Agent ${++made}`, visibility })).agent
}
const openOf = ({ account }: Person) => Runs.countDocuments({ account, state: 'running' })
const full = '429 TOO_MANY_QUESTIONS'

/** Deletes what the person asked these agents, and takes what the model was asked of it. */
async function forgetAll(who: Person, ids: readonly string[]) {
  for (const id of ids) await who.does('rest', agents.forget, { id })
  await expect.poll(() => openOf(who)).toBe(0)
}
async function ask(who: Person, id: string, number: number, from = 0): Promise<void> {
  for (let at = from; at < from + number; at++)
    await who.does('socket', agents.run, { agent_id: id, message: `Question ${at}`, client_run_id: `q${at}-${id}` })
}
const firstAsked = async (): Promise<PuppetAnswer> => {
  for (;;) {
    const asked = await puppet.asked()
    if (!asked.signal.aborted) return asked
  }
}

describe('T44: open questions of one account', () => {
  test('are at most five to an agent, over both doors; the same question again is none more', async () => {
    const asker = await somebody()
    const { id } = await publicAgent()
    await ask(asker, id, 5)
    const socket = await asker.refused('socket', agents.run, { agent_id: id, message: 'A sixth' })
    const rest = await asker.refused('rest', agents.chat, { id, message: 'A sixth' })
    for (const { status, code, retryAfter } of [socket, rest])
      expect([status, code, retryAfter]).toEqual([429, 'TOO_MANY_QUESTIONS', 5])
    const streamed = await asker.rest(`POST /api/agents/${id}/chat`, { message: 'A sixth', stream: true })
    expect(outcomeOf(streamed)).toBe(full)
    expect(streamed.headers.get('retry-after')).toBe('5')
    await ask(asker, id, 5)
    const other = await somebody()
    await ask(other, id, 1, 90)
    const first = await firstAsked()
    first.say('Yes')
    first.end()
    await expect.poll(() => openOf(asker)).toBe(4)
    await ask(asker, id, 1, 5)
    await forgetAll(asker, [id])
    await forgetAll(other, [id])
  })

  test('are at most five to an agent where fifty are asked at once, over both doors and all nodes', async () => {
    const asker = await somebody()
    const { id } = await publicAgent()
    const lines = await Promise.all(server.urls.map((url) => asker.socket('/agents', url)))
    const gone = new AbortController()
    const overRest = async (at: number) => {
      const url = server.urls[at % server.urls.length] ?? server.url
      const answer = await fetch(`${url}/api/agents/${id}/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${asker.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: `Question ${at}`, stream: true }),
        signal: gone.signal,
      })
      const { code } = answer.ok ? { code: null } : ((await answer.json()) as { code: string })
      return outcomeOf({ status: answer.status, code })
    }
    const overSocket = async (at: number) => {
      const line = lines[at % lines.length]
      if (!line) throw new Error('There is a line')
      return outcomeOf(await asker.tries(line, agents.run, { agent_id: id, message: `Question ${at}` }))
    }
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? overRest(at) : overSocket(at))),
    )
    expect(outcomes.sort()).toEqual([...Array(5).fill('200'), ...Array(45).fill(full)])
    expect(await openOf(asker)).toBe(5)
    gone.abort()
    await forgetAll(asker, [id])
  })

  test('are at most twenty to all agents, where sixty are asked at once', async () => {
    const asker = await somebody()
    const ids: string[] = []
    while (ids.length < 6) ids.push((await publicAgent()).id)
    const lines = await Promise.all(server.urls.map((url) => asker.socket('/agents', url)))
    const answers: Answer[] = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        asker.tries(lines[at % lines.length] ?? 'socket', agents.run, {
          agent_id: ids[at % ids.length] ?? '',
          message: `Question ${at}`,
        }),
      ),
    )
    expect(answers.map(outcomeOf).sort()).toEqual([...Array(20).fill('200'), ...Array(40).fill(full)])
    await forgetAll(asker, ids)
  })

  test('are not added to by mentions in a room, which are then not answered', async () => {
    const asker = await somebody()
    const guide = await publicAgent('official')
    const room = await channelOf(asker)
    await admin.does('rest', agents.joinRoom, { id: guide.id, channelType: 'channel', channelId: room.id })
    const ids: string[] = []
    while (ids.length < 4) ids.push((await publicAgent()).id)
    for (const id of ids) await ask(asker, id, 5)
    await say(asker, room, `@[${guide.name}](${guide.id}) hello`)
    await pause(1_000)
    expect(await Runs.countDocuments({ agent_id: guide.id })).toBe(0)
    const { messages: said } = await asker.does('rest', messages.history, { room })
    expect(said.filter(({ sender_address }) => sender_address.startsWith('agent:'))).toEqual([])
    await forgetAll(asker, ids)
  })

  test('wait without asking the store, begin when the one before has ended, and are stopped at once', async () => {
    const { id } = (await owner.does('rest', agents.create, { name: `Agent ${++made}` })).agent
    await ask(owner, id, 5)
    const first = await firstAsked()
    await pause(300)
    const find = vi.spyOn(Runs, 'findOne')
    await pause(2_000)
    expect(find.mock.calls.length).toBeLessThan(2)
    find.mockRestore()
    first.say('Yes')
    first.end()
    const began = performance.now()
    await firstAsked()
    expect(performance.now() - began).toBeLessThan(250)
    const stopping = performance.now()
    await forgetAll(owner, [id])
    expect(performance.now() - stopping).toBeLessThan(1_000)
  })
})
