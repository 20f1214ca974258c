// Modes: embedded
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Model, Part, Question } from '#server/ports/model/port'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { isTerminal } from '#shared/api/agents/run-frames'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { loggerInto } from '#test/support/logged'
import { over, type Person, person } from '#test/support/people'
import { toolServer } from '#test/support/tool-server'
import { wallet } from '#test/support/wallet'
import { localServer, webOver } from '#test/support/web'

const key = 'sk~K1/canary+of a "key"&=%41?é'.replace('é', 'e')
const header = 'h3ader-canary;v="1"'
const user = 'basic-user-canary'
const password = 'basic:pass-canary'
const inQuery = 'query/canary+1 2'
const inPath = 'AAE4canaryOfaPath9-zz00'
const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const secrets = [key, header, user, password, basic.slice(6), inQuery, inPath]

const asJson = (text: string) => JSON.stringify(text).slice(1, -1)
const eachByte = (text: string, sign: (hex: string, code: number) => string) =>
  [...Buffer.from(text)].map((code) => sign(code.toString(16).padStart(2, '0'), code)).join('')
const inHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** The ways in which who was told a secret repeats it. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'lower case': (text) => text.toLowerCase(),
  JSON: asJson,
  'JSON within JSON': (text) => asJson(asJson(text)),
  'JSON of code points': (text) => eachByte(text, (hex) => `\\u00${hex}`),
  URL: encodeURIComponent,
  form: (text) => new URLSearchParams({ a: text }).toString().slice(2),
  'URL within URL': (text) => encodeURIComponent(encodeURIComponent(text)),
  'URL of every byte': (text) => eachByte(text, (hex) => `%${hex.toUpperCase()}`),
  HTML: inHtml,
  'HTML of code points': (text) => eachByte(text, (_hex, code) => `&#${code};`),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  base64: base64,
  'base64 after one byte': (text) => base64(`:${text}:`),
  'base64 after two bytes': (text) => base64(`k:${text}`),
  'base64 for URLs': (text) => Buffer.from(`a header: ${text}!`).toString('base64url'),
  'base64 of JSON': (text) => base64(JSON.stringify({ authorization: text })),
  'JSON in a URL': (text) => encodeURIComponent(JSON.stringify({ said: text })),
}

/** What can be read in a text: as it stands, and by undoing whatever was done to it. */
function readIn(text: string): string[] {
  const found = [text]
  for (let at = 0; at < found.length && found.length < 400; at++) {
    const one = found[at] ?? ''
    const undone = [
      one.replace(/\\u00([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      one.replace(/\\(["\\/])/g, '$1'),
      one.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      one.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))),
      one.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
      ...(one.match(/[\w+/-]{12,}/g) ?? []).flatMap((run) => [
        Buffer.from(run, 'base64').toString('latin1'),
        Buffer.from(run, 'hex').toString('latin1'),
      ]),
    ]
    found.push(...undone.filter((other) => other.length >= 6 && !found.includes(other)))
  }
  return found.map((one) => one.toLowerCase())
}

/** Any eight characters of a secret tell it. */
const pieces = secrets.flatMap((secret) =>
  Array.from({ length: Math.max(1, secret.length - 7) }, (_, at) => secret.slice(at, at + 8).toLowerCase()),
)
const told = (text: string) => readIn(text).flatMap((one) => pieces.filter((piece) => one.includes(piece)))

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)])
}
const toldIn = (...values: unknown[]) => [...new Set(values.flatMap(textsOf))].flatMap(told)

let form = forms.plain ?? String
/** All that a request said, in the form of the moment. */
function echoOf({ headers, url = '' }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, 'https://api.test')
  const said = [...Object.values(headers), ...searchParams.values(), ...pathname.split('/'), user, password]
  return said.map((one) => `You sent: ${form(String(one))} .`).join('\n')
}

let offer: (asked: IncomingMessage) => unknown[] = () => []
let call: (asked: IncomingMessage) => object = () => ({})
let answer: (asked: IncomingMessage) => { status?: number; headers?: Record<string, string>; body: string }

const logged: string[] = []

const questions: Question[] = []
let steps: Part[][] = []
const end = (reason: 'stop' | 'calls'): Part => ({ type: 'end', reason, inputTokens: 1, outputTokens: 1 })
/** Calls what it is told to, and says what came of it. */
const parrot: Model = {
  name: 'parrot',
  isScripted: true,
  async *answer(question) {
    questions.push(question)
    yield* steps.shift() ?? [{ type: 'text', text: JSON.stringify(question.called ?? 'Nothing') }, end('stop')]
  },
}
const calls = (name: string, given: object): Part[] => [
  { type: 'call', call: { id: 'c', name, arguments: JSON.stringify(given) } },
  end('calls'),
]

let server: Booted
let owner: Person
const closing: (() => Promise<void>)[] = []
beforeAll(async () => {
  const tools = await localServer((request, response) =>
    toolServer({ handshake: true, tools: offer(request), call: () => call(request) })(request, response),
  )
  const api = await localServer((request, response) => {
    const { status = 200, headers = { 'content-type': 'application/json' }, body } = answer(request)
    request.resume().on('end', () => response.writeHead(status, headers).end(body))
  })
  closing.push(tools.close, api.close)
  server = await boot({
    environment: { BETA: 'open', ADMINS: wallet('owner').address },
    services: { model: parrot, web: webOver({ 'tools.test': tools.port, 'api.test': api.port }) },
    change: (platform) => ({ ...platform, logger: loggerInto(logged) }),
  })
  owner = await person(server, 'owner')
})
afterAll(async () => {
  await server.close()
  for (const close of closing) await close()
})
beforeEach(() => {
  for (const list of [questions, logged]) list.length = 0
  steps = []
  form = String
  offer = () => [foxTool]
  call = () => ({ content: [] })
  answer = () => ({ body: '{}' })
})

const foxTool = { name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties: {} } }
const where = `${inPath}?token=${encodeURIComponent(inQuery)}&lang=en`
const given = { apiKey: key, headers: { 'X-Team': header, 'X-Basic': basic } }
const serverTool = () => ({ id: `s${++made}`, name: 'Foxes', url: `https://tools.test/${where}`, ...given })
const apiTool = (more: object = {}) => ({
  ...{ name: 'Api', url: `https://api.test/${where}`, method: 'GET' as const, ...given },
  ...more,
})
let made = 0
const newAgent = async (tools: object) =>
  (await owner.does('rest', agents.create, { name: `Keyed ${++made}`, visibility: 'public', ...tools })).agent.id

/** Asks, and returns all that anybody is told of it. */
async function ask(id: string): Promise<unknown[]> {
  const line = await owner.line('/agents')
  const { run_id } = await owner.does('socket', agents.run, { agent_id: id, message: 'Find me a fox' })
  const ofRun = () => line.all(runFrame).filter((frame) => frame.run_id === run_id)
  await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
  const history = await owner.does('rest', agents.history, { id })
  return [ofRun(), history, questions]
}
const results = () =>
  questions
    .at(-1)
    ?.called?.map(({ result }) => result)
    .join('\n') ?? ''

test('what is looked for would be found', () => {
  for (const [name, as] of Object.entries(forms))
    for (const secret of [key, header, password, inQuery])
      expect([name, told(as(secret)).length > 0]).toEqual([name, true])
})

describe.each(Object.entries(forms))('T11: secrets that are repeated as %s', (_name, as) => {
  beforeEach(() => {
    form = as
  })

  test('by an API in its answer reach no model, no frame, no history and no log', async () => {
    const id = await newAgent({ apiTools: [apiTool()] })
    answer = (asked) => ({ body: echoOf(asked) })
    steps = [calls('Api_api', { query: 'fox' })]
    expect(toldIn(await ask(id), logged)).toEqual([])
    expect(results().match(/\[removed\]/g)?.length).toBeGreaterThanOrEqual(6)
    expect(results()).toContain('You sent: ')
  })

  test('by a tool server in a result, also of a tool that failed, reach nobody either', async () => {
    const id = await newAgent({ mcpServers: [serverTool()] })
    for (const isError of [false, true]) {
      call = (asked) => ({ isError, content: [{ type: 'text', text: echoOf(asked) }] })
      steps = [calls('Foxes_find', {})]
      expect(toldIn(await ask(id), logged)).toEqual([])
      expect(results()).toContain('[removed]')
    }
    call = (asked) => ({ structuredContent: { said: [echoOf(asked)] } })
    steps = [calls('Foxes_find', {})]
    expect(toldIn(await ask(id), logged)).toEqual([])
    expect(results()).toContain('[removed]')
  })

  test.each(over)('by either where it is tried or detected reach nobody, over %s', async (door) => {
    const tool = serverTool()
    const id = await newAgent({ mcpServers: [tool], apiTools: [apiTool()] })
    offer = (asked) => [
      { ...foxTool, description: echoOf(asked) },
      { ...foxTool, name: form(user) },
      { ...foxTool, name: 'of_schema', inputSchema: schemaOf(echoOf(asked)) },
    ]
    answer = (asked) => ({ status: 401, body: echoOf(asked) })
    const tries = [
      await owner.does(door, agents.testTool, { id, serverId: tool.id }),
      await owner.does(door, agents.testTool, { id, apiName: 'Api' }),
    ]
    expect(tries[0]?.tools.map(({ usable }) => usable)).toEqual([true, false, true])
    expect(tries[1]?.error).toMatch(/^401: You sent: /)
    answer = (asked) => ({
      body: JSON.stringify({ openapi: '3.1.0', paths: { '/a': { get: { summary: echoOf(asked) } } } }),
    })
    const { schema } = await owner.does(door, agents.detectApi, { url: `https://api.test/${where}`, ...given })
    expect(schema).toContain('[removed]')
    await ask(id)
    expect(questions[0]?.tools?.length).toBeGreaterThan(1)
    expect(toldIn(tries, schema, questions, logged)).toEqual([])
  })
})

const schemaOf = (text: string) => ({
  type: 'object',
  description: text,
  properties: { [form(user)]: { type: 'string', enum: [form(header)], default: form(key), description: text } },
})

test('T11: what fails repeats no secret, in whichever part of an answer it was', async () => {
  const id = await newAgent({ mcpServers: [serverTool()], apiTools: [apiTool()] })
  const oneLine = (asked: IncomingMessage) => echoOf(asked).replaceAll('\n', ' ')
  const bad: ((asked: IncomingMessage) => ReturnType<typeof answer>)[] = [
    (asked) => ({ status: 500, body: echoOf(asked) }),
    (asked) => ({
      status: 302,
      headers: { location: `http://127.0.0.1/${encodeURIComponent(oneLine(asked))}` },
      body: '',
    }),
    (asked) => ({ status: 302, headers: { location: oneLine(asked) }, body: '' }),
    (asked) => ({ headers: { 'content-encoding': oneLine(asked) }, body: '' }),
    (asked) => ({ headers: { 'content-type': `text/plain; charset=${form(key)}` }, body: oneLine(asked) }),
  ]
  for (const one of bad) {
    answer = one
    steps = [calls('Api_api', { query: 'fox' })]
    expect(toldIn(await ask(id), logged)).toEqual([])
    expect(toldIn(await owner.does('rest', agents.testTool, { id, apiName: 'Api' }), logged)).toEqual([])
    expect(
      toldIn(await owner.does('rest', agents.detectApi, { url: `https://api.test/${where}`, ...given }), logged),
    ).toEqual([])
  }
  offer = (asked) => [oneLine(asked), { name: oneLine(asked) }, { name: key.slice(0, 40), inputSchema: oneLine(asked) }]
  expect(toldIn(await ask(id), logged)).toEqual([])
})

test('T11: a secret across the end of what is read of a long answer is not told in part', heavy, async () => {
  const id = await newAgent({ apiTools: [apiTool()] })
  for (const before of [500, 16_000, 65_536])
    for (let less = 4; less < 36; less += 5) {
      answer = () => ({ body: `${'x '.repeat(before / 2).slice(0, before - less)}${key}${' x'.repeat(400)}` })
      steps = [calls('Api_api', { query: 'fox' })]
      expect(toldIn(await ask(id), await owner.does('rest', agents.testTool, { id, apiName: 'Api' }))).toEqual([])
    }
  answer = () => ({ body: `${key} `.repeat(3_000) })
  steps = [calls('Api_api', { query: 'fox' })]
  expect(toldIn(await ask(id))).toEqual([])
})

test('T11: what an owner wrote beside a key is told to the model without it', async () => {
  const texts = { description: `Send ${key}`, instructions: `Use ${header} always` }
  const id = await newAgent({
    mcpServers: [{ ...serverTool(), ...texts }],
    apiTools: [apiTool({ ...texts, schema: `GET /?token=${inQuery}` })],
  })
  await ask(id)
  const described = questions[0]?.tools?.map(({ description }) => description).join() ?? ''
  expect(described.match(/\[removed\]/g)).toHaveLength(5)
  expect(toldIn(questions)).toEqual([])
})

test('T11: a short key is taken out where it stands alone, and words that are no secret stay', async () => {
  const id = await newAgent({
    apiTools: [apiTool({ url: 'https://api.test/?lang=en&sort=created', apiKey: 'k1z', headers: {} })],
  })
  answer = () => ({ body: 'The key k1z, K1Z! of k1zzz; sorted by created in en; k1z' })
  steps = [calls('Api_api', { query: 'fox' })]
  await ask(id)
  expect(results()).toContain('The key [removed], [removed]! of k1zzz; sorted by created in en; [removed]')
})

test.each(over)('T11: a user and a password in a URL of a tool are refused, over %s', async (door) => {
  const id = await newAgent({})
  const url = 'https://user:password-canary@api.test/'
  const refusals = [
    await owner.refused(door, agents.update, { id, apiTools: [{ ...apiTool(), url }] }),
    await owner.refused(door, agents.update, { id, mcpServers: [{ ...serverTool(), url }] }),
    await owner.refused(door, agents.detectApi, { url }),
  ]
  for (const refusal of refusals) {
    expect(refusal.code).toBe('VALIDATION_ERROR')
    expect(JSON.stringify(refusal)).not.toContain('password-canary')
  }
})
