// Modes: embedded
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Model, Part, Question } from '#server/ports/model/port'
import { fakePlatformData } from '#server/ports/platform-data/fake'
import type { OfferedTool, OpenToolServers, ToolResult } from '#server/ports/tool-servers/port'
import { fakeWeb } from '#server/ports/web/fake'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { isTerminal } from '#shared/api/agents/run-frames'
import { accounts } from '#shared/api/people/accounts'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const second = 1_000
const questions: Question[] = []
const steps: Part[][] = []
const end = (reason: 'stop' | 'calls'): Part => ({ type: 'end', reason, inputTokens: 2, outputTokens: 1 })
const called = (name: string, given: object): Part => ({
  type: 'call',
  call: { id: 'c', name, arguments: JSON.stringify(given) },
})
const model: Model = {
  name: 'obedient',
  isScripted: false,
  async *answer(question) {
    questions.push(structuredClone(question))
    yield* steps.shift() ?? [{ type: 'text', text: 'That is all.' }, end('stop')]
  },
}

const noArguments = { type: 'object', properties: {} }
const tool = (name: string, description = ''): OfferedTool => ({ name, description, inputSchema: noArguments })
let offered: readonly OfferedTool[]
let list: (signal: AbortSignal) => Promise<readonly OfferedTool[]>
let answer: (signal: AbortSignal) => Promise<ToolResult>
const asked = { lists: 0, calls: 0 }
const toolServers: OpenToolServers = () => ({
  list: (_server, signal) => {
    asked.lists++
    return list(signal)
  },
  call: (_server, _name, _given, signal) => {
    asked.calls++
    return answer(signal)
  },
})
/** What never comes, until it is left. */
const silence = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const away = () => Promise.reject(new AppError('UPSTREAM_ERROR'))

const web = fakeWeb()
const platformData = fakePlatformData({ data: { rooms: 7 } })
let server: Booted
let owner: Person
let admin: Person
let made = 0
let ahead = 0
beforeAll(async () => {
  server = await boot({
    nodes: 1,
    environment: { BETA: 'open', ADMINS: wallet('owner').address, SUPER_ADMINS: wallet('root').address },
    services: { model, web, toolServers, platformData },
  })
  owner = await person(server, 'owner')
  admin = await person(server, 'root')
})
afterAll(() => server.close())
beforeEach(() => {
  for (const log of [questions, steps, platformData.asked]) log.length = 0
  Object.assign(asked, { lists: 0, calls: 0 })
  offered = [tool('find')]
  list = async () => offered
  answer = async () => ({ text: 'Found', isError: false })
  platformData.away = null
})
afterEach(() => {
  vi.restoreAllMocks()
  ahead = 0
})

/** Sets the clock of durations ahead until the end of the test. */
const now = performance.now.bind(performance)
function wait(milliseconds: number) {
  ahead += milliseconds
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
}

const foxes = (more: object = {}) => ({ id: `foxes${made}`, name: 'Foxes', url: 'https://tools.test/mcp', ...more })
const api = (more: object = {}) => ({ name: 'Api', url: 'https://api.test/v1', method: 'GET' as const, ...more })
const agentWith = async (more: object) =>
  (await owner.does('rest', agents.create, { name: `Limited ${++made}`, ...more })).agent.id
async function ask(agent: string, ...calls: Part[][]) {
  for (const round of calls) steps.push([...round, end('calls')])
  const line = await owner.line('/agents')
  const { run_id } = await owner.does('socket', agents.run, { agent_id: agent, message: 'Find it' })
  await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
  return line
    .all(runFrame)
    .filter((frame) => frame.run_id === run_id)
    .flatMap((frame) => (frame.t === 'tool' && frame.state !== 'running' ? [`${frame.name} ${frame.state}`] : []))
}
const results = () => questions.at(-1)?.called?.map(({ result }) => result) ?? []
const find = [called('Foxes_find', {})]
const resting = 'This tool does not answer at the moment'

describe('a tool that fails', () => {
  test('three times in a row is left alone: for 30 s, and after the next failure for twice as long', async () => {
    const agent = await agentWith({ mcpServers: [foxes()] })
    await ask(agent)
    answer = away
    const fail = async () => {
      const before = asked.calls
      expect(await ask(agent, find)).toEqual(['find failed'])
      return asked.calls - before
    }
    expect([await fail(), await fail()]).toEqual([1, 1])
    answer = async () => ({ text: 'Found', isError: false })
    expect(await ask(agent, find)).toEqual(['find done'])
    answer = away
    expect([await fail(), await fail(), await fail()]).toEqual([1, 1, 1])
    list = away
    const lists = asked.lists
    wait(29 * second)
    await ask(agent)
    expect([asked.calls, asked.lists]).toEqual([6, lists])
    list = async () => offered
    wait(2 * second)
    expect(await fail()).toBe(1)
    wait(31 * second)
    await ask(agent)
    expect(asked.calls).toBe(7)
    wait(30 * second)
    answer = async () => ({ text: 'Found', isError: false })
    expect(await ask(agent, find)).toEqual(['find done'])
  })

  test('within an answer is not called again in it', async () => {
    const agent = await agentWith({ mcpServers: [foxes()] })
    answer = away
    await ask(agent, [...find, ...find, ...find, ...find])
    expect(asked.calls).toBe(3)
    expect(results().map((result) => result.includes(resting))).toEqual([false, false, false, true])
  })

  test('of one agent is not left alone for others, and the data of the platform neither', async () => {
    const [one, other] = [await agentWith({ mcpServers: [foxes()] }), await agentWith({ mcpServers: [foxes()] })]
    const rooms = [called('Platform_data', { query: '{ rooms }' })]
    answer = away
    platformData.away = 'TIMEOUT'
    await ask(one, [...find, ...rooms], [...find, ...rooms], [...find, ...rooms])
    answer = async () => ({ text: 'Found', isError: false })
    platformData.away = null
    expect(await ask(other, find, rooms)).toEqual(['find done', 'graphql done'])
  })

  test('because it says nothing is given up: its list after 5 s, a call after 8 s', heavy, async () => {
    const agent = await agentWith({ mcpServers: [foxes()] })
    list = silence
    const began = performance.now()
    expect(await ask(agent)).toEqual(['tools/list failed'])
    const listed = performance.now()
    expect(listed - began).toBeLessThan(7_500)
    list = async () => offered
    answer = silence
    expect(await ask(agent, find)).toEqual(['find failed'])
    expect(performance.now() - listed).toBeLessThan(11_000)
  })

  test('because the answer was stopped has not failed', async () => {
    const agent = await agentWith({ mcpServers: [foxes()] })
    list = silence
    for (let time = 0; time < 3; time++) {
      const { run_id } = await owner.does('socket', agents.run, { agent_id: agent, message: 'Find it' })
      await expect.poll(() => asked.lists).toBe(time + 1)
      await owner.does('socket', agents.cancel, { run_id })
      await (await owner.line('/agents')).hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
    }
    list = async () => offered
    expect(await ask(agent, find)).toEqual(['find done'])
  })
})

test('an answer that is stopped leaves the data of the platform at once', async () => {
  const agent = await agentWith({})
  const query = vi
    .spyOn(platformData, 'query')
    .mockImplementationOnce((_document, _variables, signal) => silence(signal))
  steps.push([called('Platform_data', { query: '{ rooms }' }), end('calls')])
  const line = await owner.line('/agents')
  const { run_id } = await owner.does('socket', agents.run, { agent_id: agent, message: 'How many?' })
  await expect.poll(() => query.mock.calls.length).toBe(1)
  await owner.does('socket', agents.cancel, { run_id })
  const last = await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
  expect(last.t).toBe('cancelled')
  expect(questions).toHaveLength(1)
})

describe('the tools of a server', () => {
  test('are listed again after an hour, and with another key', async () => {
    const id = 'listed'
    const agent = await agentWith({ mcpServers: [foxes({ id })] })
    const lists = async () => {
      const before = asked.lists
      await ask(agent)
      return asked.lists - before
    }
    expect([await lists(), await lists()]).toEqual([1, 0])
    await owner.does('rest', agents.update, { id: agent, mcpServers: [foxes({ id, apiKey: 'another-key' })] })
    expect([await lists(), await lists()]).toEqual([1, 0])
    wait(3_580 * second)
    expect(await lists()).toBe(0)
    wait(21 * second)
    expect([await lists(), await lists()]).toEqual([1, 0])
  })

  test('T65: are 64 at the most with those of the platform, each with a name of its own and in short', async () => {
    offered = [
      tool('find'),
      tool('find it, now'),
      tool('x'.repeat(100), 'y'.repeat(5_000)),
      ...Array(47).fill(tool('find')),
    ]
    const agent = await agentWith({ mcpServers: [foxes(), foxes({ id: 'more' })] })
    await ask(agent)
    const tools = questions[0]?.tools ?? []
    const names = tools.map(({ name }) => name)
    expect(names).toHaveLength(64)
    expect(new Set(names).size).toBe(64)
    expect(names).toEqual(expect.arrayContaining(['Foxes_find', 'Foxes_find_2', 'Foxes_find_it_now', 'Platform_data']))
    for (const { name, description } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(description.length).toBeLessThanOrEqual(1_000)
    }
  })

  test('T65: are called four at a time at the most', async () => {
    const agent = await agentWith({ mcpServers: [foxes()] })
    expect(await ask(agent, Array(9).fill(find[0]))).toEqual(Array(4).fill('find done'))
    expect([asked.calls, results().length]).toEqual([4, 4])
  })
})

describe('an API', () => {
  const query = [called('Api_api', { query: 'fox' })]

  test('that refuses has failed, and says why', async () => {
    web.pages.set('https://api.test/v1?query=fox&message=fox&text=fox', { status: 404, body: 'No such fox' })
    const agent = await agentWith({ apiTools: [api()] })
    expect(await ask(agent, query)).toEqual(['rest failed'])
    expect(results()).toEqual([expect.stringContaining('404: No such fox')])
  })

  test('T65: answers 1 MB at the most, and describes itself in 4,000 characters', async () => {
    const url = 'https://api.test/v1?query=fox&message=fox&text=fox'
    const agent = await agentWith({
      apiTools: [api({ url: 'https://api.test/v1?query=wolf', schema: 'z'.repeat(20_000) })],
    })
    web.pages.set(url, { body: 'x'.repeat(1024 * 1024) })
    expect(await ask(agent, query)).toEqual(['rest done'])
    expect(questions[0]?.tools?.[0]?.description.length).toBeLessThan(4_100)
    web.pages.set(url, { body: 'x'.repeat(1024 * 1024 + 1) })
    expect(await ask(agent, query)).toEqual(['rest failed'])
  })

  test('T11: is told the header that its owner gave before what follows from the key, and repeats neither', async () => {
    const url = 'https://api.test/v1?query=fox&message=fox&text=fox'
    const headers = { Authorization: 'Basic first-of-two-keys' }
    const agent = await agentWith({ apiTools: [api({ apiKey: 'second-of-two-keys', headers })] })
    web.pages.set(url, ({ headers }) => ({ body: `${headers?.authorization} first-of-two-keys second-of-two-keys` }))
    await ask(agent, query)
    expect(web.asked.at(-1)?.request.headers).toMatchObject({ authorization: 'Basic first-of-two-keys' })
    expect(results()[0]).toContain('[removed]')
    expect(results()[0]).not.toContain('-of-two-keys')
  })
})

describe.each(over)('the test button and the detection, over %s', (door) => {
  test('say that nobody answers in time, and show the beginning of what is answered', async () => {
    const agent = await agentWith({ mcpServers: [foxes()], apiTools: [api()] })
    const id = { id: agent }
    list = silence
    const tried = await owner.does(door, agents.testTool, { ...id, serverId: `foxes${made - 1}` })
    expect(tried).toMatchObject({ success: false, error: expect.stringMatching(/time|long|late/i) })
    web.pages.set('https://api.test/v1?query=test&message=test&text=test', { body: 'x'.repeat(9_000) })
    const { answer: shown } = await owner.does(door, agents.testTool, { ...id, apiName: 'Api' })
    expect(shown).toHaveLength(500)
  })

  test('find a document of either kind, and take 8,000 characters of it', async () => {
    const paths = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`/foxes/${at}`, { get: {} }]))
    web.pages.set('https://old.test/swagger.json', { body: JSON.stringify({ swagger: '2.0', paths }) })
    const found = await owner.does(door, agents.detectApi, { url: 'https://old.test/v1' })
    expect(found).toMatchObject({ apiType: 'openapi', confidence: 'high' })
    expect(found.schema).toHaveLength(8_000)
  })

  test('are refused to who is suspended', async () => {
    const who = await person(server, `suspended over ${door}`)
    const { agent } = await who.does('rest', agents.create, { name: 'Own', mcpServers: [foxes({ id: 'own' })] })
    await admin.does('rest', accounts.suspend, { userAddress: who.account, ban: true })
    const before = web.asked.length
    expect(outcomeOf(await who.tries(door, agents.detectApi, { url: 'https://old.test/v1' }))).toBe('403 SUSPENDED')
    expect(outcomeOf(await who.tries(door, agents.testTool, { id: agent.id, serverId: 'own' }))).toBe('403 SUSPENDED')
    expect([web.asked.length, asked.lists]).toEqual([before, 0])
  })
})
