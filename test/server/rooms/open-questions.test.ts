// Modes: embedded, two-nodes-redis
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { newRun } from '#server/domains/agents/runs/begin'
import { OpenPlaces, Runs, type StoredPlaces } from '#server/domains/agents/runs/model'
import { releaseQuestionPlaces, takeQuestionPlaces } from '#server/domains/agents/runs/settle'
import type { Node } from '#server/kernel/context'
import { agents } from '#shared/api/agents/agents'
import { messages } from '#shared/api/rooms/messages'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Answer, channelOf, outcomeOf, type Person, person, say } from '#test/support/people'
import { type PuppetAnswer, puppetModel } from '#test/support/puppet-model'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

const puppet = puppetModel()
let server: Booted
let node: Node
let owner: Person
let admin: Person
let made = 0

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppet.model },
  })
  const [app] = server.apps
  if (!app) throw new Error('There is a server')
  node = app.node
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
/** The runs that hold places of an account: in all, and to one agent. */
async function placesOf({ account }: Person, agent: string): Promise<string[]> {
  const found = await OpenPlaces.find({ _id: { $in: [account, `${account} ${agent}`] } }).lean<StoredPlaces[]>()
  return found.flatMap(({ open }) => open.map(({ run }) => run))
}

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
  solo('are at most five to an agent, over both doors; the same question again is none more', async () => {
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

  test('are not too many where the places are those of the same question, which is not stored yet', async () => {
    const asker = await somebody()
    const { id } = await publicAgent()
    const question = { agent_id: id, message: 'Once', client_run_id: `once-${id}` }
    const tried = {
      agent: id,
      account: asker.account,
      place: 'chat',
      message: 'Once',
      clientRunId: question.client_run_id,
    }
    const tries = Array.from({ length: 5 }, () => newRun(node, tried))
    for (const run of tries) expect(await takeQuestionPlaces(node, run, true)).toBe('taken')
    const { agent_id: _, ...said } = question
    const refusals = [
      await asker.refused('socket', agents.run, question),
      await asker.refused('rest', agents.chat, { id, ...said }),
    ]
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', retryAfter: 1 })
    const another = await asker.tries('socket', agents.run, { ...question, client_run_id: `two-${id}` })
    expect(outcomeOf(another)).toBe(full)
    for (const run of tries) await releaseQuestionPlaces(run)
    await asker.does('socket', agents.run, question)
    await forgetAll(asker, [id])
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

  solo('are not added to by mentions in a room, which are then not answered', async () => {
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

  solo(
    'wait without asking the store, begin when the one before has ended, and are stopped at once',
    heavy,
    async () => {
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
      // Ten seconds where nobody was woken.
      expect(performance.now() - began).toBeLessThan(5_000)
      const stopping = performance.now()
      await forgetAll(owner, [id])
      expect(performance.now() - stopping).toBeLessThan(5_000)
    },
  )

  solo.each<[string, (who: Person, id: string, first: PuppetAnswer, run: string) => unknown]>([
    [
      'is answered',
      (_who, _id, first) => {
        first.say('Yes')
        first.end()
      },
    ],
    ['fails', (_who, _id, first) => first.fail(new Error('No'))],
    ['is stopped', (who, _id, _first, run_id) => who.does('socket', agents.cancel, { run_id })],
    ['is forgotten', (who, id) => who.does('rest', agents.forget, { id })],
    ['loses its agent', (who, id) => who.does('rest', agents.remove, { id })],
  ])('give their places back: one that %s', async (_how, end) => {
    const asker = await somebody()
    const { id } = (await asker.does('rest', agents.create, { name: `Agent ${++made}` })).agent
    const { run_id } = await asker.does('socket', agents.run, { agent_id: id, message: 'Hi' })
    const first = await firstAsked()
    expect(await placesOf(asker, id)).toEqual([run_id, run_id])
    await end(asker, id, first, run_id)
    await expect.poll(() => placesOf(asker, id)).toEqual([])
  })

  const lostOf = ({ account }: Person, agent: string) => newRun(node, { agent, account, place: 'chat', message: 'Hi' })

  test('give their places back where their node is lost', async () => {
    const asker = await somebody()
    const { id } = await publicAgent()
    const lost = { ...lostOf(asker, id), node: 'gone' }
    expect(await takeQuestionPlaces(node, lost, true)).toBe('taken')
    await Runs.create(lost)
    await expect.poll(() => placesOf(asker, id)).toEqual([])
  })

  test('of a node that was lost before it stored them, or took their places back, keep none', async () => {
    const asker = await somebody()
    const { id } = await publicAgent()
    const past = { now: () => node.now() - 61_000 } as Node
    const ended = { ...lostOf(asker, id), state: 'done' as const }
    await Runs.create(ended)
    expect(await takeQuestionPlaces(node, ended, true)).toBe('taken')
    for (let at = 0; at < 2; at++) {
      const unstored = { ...lostOf(asker, id), client_run_id: `q${at}-${id}` }
      expect(await takeQuestionPlaces(past, unstored, true)).toBe('taken')
    }
    for (let at = 0; at < 2; at++) expect(await takeQuestionPlaces(node, lostOf(asker, id), true)).toBe('taken')
    await ask(asker, id, 3)
    expect((await asker.refused('rest', agents.chat, { id, message: 'A sixth' })).code).toBe('TOO_MANY_QUESTIONS')
    await forgetAll(asker, [id])
  })

  test('are the same one where the last that fits is asked twice at once', async () => {
    const asker = await somebody()
    const { id } = await publicAgent()
    await ask(asker, id, 4)
    const same = { agent_id: id, message: 'The last', client_run_id: 'the-last' }
    let store: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      store = resolve
    })
    const create = Runs.create.bind(Runs)
    vi.spyOn(Runs, 'create').mockImplementationOnce((async (run: never) => {
      await held
      return create(run)
    }) as never)
    const first = asker.does('socket', agents.run, same)
    await expect.poll(() => placesOf(asker, id)).toHaveLength(10)
    const looks = vi.spyOn(OpenPlaces, 'findOne')
    const second = asker.tries('rest', agents.chat, { id, message: same.message, client_run_id: same.client_run_id })
    await expect.poll(() => looks.mock.calls.length, { interval: 5 }).toBeGreaterThan(0)
    store()
    const { run_id } = await first
    expect(await openOf(asker)).toBe(5)
    await asker.does('socket', agents.cancel, { run_id })
    expect(await second).toMatchObject({ ok: false, error: { message: 'The answer was stopped' } })
    await forgetAll(asker, [id])
  })
})
