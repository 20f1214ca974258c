// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import type { Model, Part, Question } from '#server/ports/model/port'
import { fakeToolServers } from '#server/ports/tool-servers/fake'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { isTerminal } from '#shared/api/agents/run-frames'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, person } from '#test/support/people'
import { foxTool } from '#test/support/tool-server'
import { wallet } from '#test/support/wallet'
import { localServer, webOver } from '#test/support/web'

const questions: Question[] = []
/** What the model says in one round after another; `meanwhile` happens while it speaks. */
const rounds: { says: Part[]; meanwhile?: () => Promise<unknown> }[] = []
const obedient: Model = {
  name: 'obedient',
  isScripted: false,
  async *answer(question) {
    questions.push(question)
    const { says, meanwhile } = rounds.shift() ?? { says: [{ type: 'text', text: 'That is all.' }, ended('stop')] }
    yield* says.slice(0, -1)
    await meanwhile?.()
    yield* says.slice(-1)
  },
}
const ended = (reason: 'stop' | 'calls'): Part => ({ type: 'end', reason, inputTokens: 2, outputTokens: 1 })
const calls = (...names: string[]): Part[] => [
  ...names.map((name): Part => ({ type: 'call', call: { id: name, name, arguments: '{"colour":"red"}' } })),
  ended('calls'),
]

let whileCalled: () => Promise<unknown>
const answer = async () => {
  await whileCalled()
  return { text: 'A fox', isError: false }
}
const one = 'https://one.test/mcp'
const two = 'https://two.test/mcp'
const apiAsked: string[] = []
const tools = fakeToolServers({ [one]: [{ ...foxTool, answer }], [two]: [{ ...foxTool, answer }] })

let server: Booted
let owner: Person
let closeApi: () => Promise<void>

beforeAll(async () => {
  const api = await localServer((request, response) => {
    apiAsked.push(request.method ?? '')
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  closeApi = api.close
  server = await boot({
    environment: { BETA: 'open', ADMINS: wallet('owner').address },
    services: { model: obedient, toolServers: tools.open, web: webOver({ 'api.test': api.port }) },
  })
  owner = await person(server, 'owner')
})
afterAll(async () => {
  await server.close()
  await closeApi()
})
beforeEach(() => {
  for (const list of [questions, rounds, tools.asked, apiAsked]) list.length = 0
  whileCalled = async () => undefined
})

let made = 0
const foxes = (more: object = {}) => ({ id: 'foxes', name: 'Foxes', url: one, ...more })
const weather = (method: 'PATCH' | 'DELETE') => ({
  ...{ name: 'Weather', url: 'https://api.test/v1', method, allowChanges: true },
})
const agentWith = async (more: object) =>
  (await owner.does('rest', agents.create, { name: `Anew ${++made}`, ...more })).agent.id

/** Asks, and returns what became of each call, and the last frame. */
async function ask(id: string, asker = owner) {
  const line = await asker.line('/agents')
  const { run_id } = await asker.does('socket', agents.run, { agent_id: id, message: 'Find me a fox' })
  await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
  const frames = line.all(runFrame).filter((frame) => frame.run_id === run_id)
  const done = frames.flatMap((frame) =>
    frame.t === 'tool' && frame.state !== 'running' ? [`${frame.server}/${frame.name} ${frame.state}`] : [],
  )
  return { done, last: frames.at(-1) }
}
const offered = () => questions.map((question) => question.tools?.map(({ name }) => name) ?? [])
const results = () => questions.at(-1)?.called?.map(({ result }) => result.split('\n')[1]) ?? []
const gone = 'The owner has changed or removed this tool'

describe.each(over)('T28: what the owner changes over %s while the agent answers', (door) => {
  const change = (id: string, more: object) => () => owner.does(door, agents.update, { id, ...more })

  test('holds for the next call of the same round: a tool that was removed is called no more', async () => {
    const id = await agentWith({ mcpServers: [foxes()] })
    whileCalled = change(id, { mcpServers: [] })
    rounds.push({ says: calls('Foxes_find_fox', 'Foxes_find_fox') })
    expect(await ask(id)).toMatchObject({
      done: ['Foxes/find_fox done', 'Foxes/find_fox failed'],
      last: { t: 'done', message: 'That is all.' },
    })
    expect(results()).toEqual(['A fox', gone])
    expect(tools.asked).toHaveLength(1)
    expect(offered()).toEqual([['Foxes_find_fox'], []])
  })

  test.each([
    ['removed', { mcpServers: [] }],
    ['switched off', { mcpEnabled: false }],
    ['given another key', { mcpServers: [foxes({ apiKey: 'another' })] }],
  ])('holds for a call that was begun before: it is not made where its tool was %s', async (_how, more) => {
    const id = await agentWith({ mcpServers: [foxes()] })
    rounds.push({ says: calls('Foxes_find_fox'), meanwhile: change(id, more) })
    expect((await ask(id)).done).toEqual(['Foxes/find_fox failed'])
    expect(results()).toEqual([gone])
    expect(tools.asked).toEqual([])
  })

  test('holds for the next round: another server, another key, and no search of the web', async () => {
    const id = await agentWith({ mcpServers: [foxes()], webSearchEnabled: true })
    whileCalled = change(id, {
      mcpServers: [foxes({ id: 'wolves', name: 'Wolves', url: two, apiKey: 'second' })],
      webSearchEnabled: false,
    })
    rounds.push({ says: calls('Foxes_find_fox') }, { says: calls('Wolves_find_fox', 'Foxes_find_fox') })
    expect((await ask(id)).done).toEqual(['Foxes/find_fox done', 'Wolves/find_fox done', '/Foxes_find_fox failed'])
    expect(tools.asked.map(({ url, headers }) => [url, headers])).toEqual([
      [one, {}],
      [two, { authorization: 'Bearer second' }],
    ])
    expect(questions.map(({ webSearch }) => webSearch)).toEqual([true, false, false])
  })

  test('never lets a call reach another tool than the one that the model was told of', async () => {
    const twice = [foxes(), foxes({ id: 'wolves', url: two })]
    const first = await agentWith({ mcpServers: twice })
    rounds.push({
      says: calls('Foxes_find_fox', 'Foxes_find_fox_2'),
      meanwhile: change(first, { mcpServers: twice.slice(1) }),
    })
    expect((await ask(first)).done).toEqual(['Foxes/find_fox failed', 'Foxes/find_fox done'])
    expect(tools.asked.map(({ url }) => url)).toEqual([two])

    const second = await agentWith({ apiTools: [weather('PATCH')] })
    const body: Part = { type: 'call', call: { id: 'a', name: 'Weather_api', arguments: '{"body":{}}' } }
    rounds.push({ says: [body, ended('calls')], meanwhile: change(second, { apiTools: [weather('DELETE')] }) })
    expect((await ask(second)).done).toEqual(['Weather/rest failed'])
    expect(apiAsked).toEqual([])
  })
})

test('T28: an agent that refuses who asks, by now, calls nothing more for them and asks the model no more', async () => {
  const stranger = await person(server, 'stranger')
  const id = await agentWith({ mcpServers: [foxes()], visibility: 'public' })
  // As another node stores it, whose word has not come yet.
  whileCalled = () => Agents.updateOne({ _id: id }, { $set: { visibility: 'private' } })
  rounds.push({ says: calls('Foxes_find_fox', 'Foxes_find_fox') })
  expect((await ask(id, stranger)).last).toMatchObject({ t: 'cancelled', by: owner.account })
  expect(tools.asked).toHaveLength(1)
  expect(questions).toHaveLength(1)
})
