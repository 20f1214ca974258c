import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fakeToolServers } from '#server/ports/tool-servers/fake'
import { mcpServers } from '#server/ports/tool-servers/mcp'
import type { ToolServers } from '#server/ports/tool-servers/port'
import { foxTool, type Heard, toolServer } from '#test/support/tool-server'
import { localServer, webOver } from '#test/support/web'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const { signal } = new AbortController()
const at = (headers: Record<string, string> = {}, of = 'one') => ({ url: 'https://site.test/mcp', headers, of })

async function opened(options: Parameters<typeof toolServer>[0]): Promise<ToolServers> {
  const server = await localServer(toolServer(options))
  closing.push(server.close)
  const web = webOver({ 'site.test': server.port })
  return mcpServers((url, request) => web.ask(url, request))
}

const subjects: Record<string, () => Promise<ToolServers>> = {
  'the fake': async () =>
    fakeToolServers({
      'https://site.test/mcp': [
        { ...foxTool, answer: (given) => ({ text: `A fox: ${JSON.stringify(given)}`, isError: false }) },
      ],
    }).open(async () => {
      throw new Error('The fake asks nobody')
    }),
  'the protocol with its handshake': () => opened({ handshake: true }),
  'its two calls alone': () => opened({ handshake: false }),
}

describe.each(Object.entries(subjects))('the port of tool servers, by %s', (_name, open) => {
  test('lists tools, and calls one', async () => {
    const servers = await open()
    expect(await servers.list(at(), signal)).toEqual([foxTool])
    expect(await servers.call(at(), 'find_fox', { colour: 'red' }, signal)).toEqual({
      text: 'A fox: {"colour":"red"}',
      isError: false,
    })
  })

  test('throws the reason of a signal, and UPSTREAM_ERROR where nobody answers', async () => {
    const servers = await open()
    await expect(servers.list(at(), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    const nowhere = { ...at(), url: 'https://nowhere.test/' }
    await expect(servers.list(nowhere, signal)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })
})

describe.each([true, false])('a tool server (handshake: %s)', (handshake) => {
  test('is greeted once, and told its key with each request', async () => {
    const heard: Heard[] = []
    const servers = await opened({ handshake, heard })
    const server = at({ authorization: 'Bearer secret' })
    await servers.list(server, signal)
    const greeted = heard.length
    await servers.call(server, 'find_fox', { colour: 'red' }, signal)
    expect(heard.length - greeted).toBe(1)
    expect(heard.map(({ headers }) => headers.authorization)).toEqual(heard.map(() => 'Bearer secret'))
  })

  test('is greeted anew for each of those who name it', async () => {
    const heard: Heard[] = []
    const servers = await opened({ handshake, heard })
    await servers.list(at({}, 'one'), signal)
    const greeted = heard.length
    await servers.list(at({}, 'other'), signal)
    expect(heard.length).toBe(2 * greeted)
    await servers.list(at({}, 'one'), signal)
    expect(heard.length).toBe(2 * greeted + 1)
  })

  test('that says that a tool failed has answered', async () => {
    const call = () => ({ content: [{ type: 'text', text: 'No fox' }], isError: true })
    expect(await (await opened({ handshake, call })).call(at(), 'find_fox', {}, signal)).toEqual({
      text: 'No fox',
      isError: true,
    })
  })

  test('that hangs is left when the asker leaves', async () => {
    const servers = await opened({ handshake, call: () => 'silent' })
    await servers.list(at(), signal)
    const asking = servers.call(at(), 'find_fox', {}, AbortSignal.timeout(100))
    await expect(asking).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('that answers 60 MB is read no further than 1 MB', async () => {
    const servers = await opened({ handshake, call: () => 'flood' })
    await servers.list(at(), signal)
    const before = process.memoryUsage().rss
    await expect(servers.call(at(), 'find_fox', {}, signal)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024)
  })

  test('that lists a malformed tool hides no other by it', async () => {
    const servers = await opened({
      handshake,
      tools: [{ name: 'broken', inputSchema: 'none' }, foxTool, { inputSchema: {} }],
    })
    const malformed = { description: expect.stringContaining('malformed'), inputSchema: null }
    expect(await servers.list(at(), signal)).toEqual([
      { name: 'broken', ...malformed },
      foxTool,
      { name: 'Tool 3', ...malformed },
    ])
    expect(await servers.call(at(), 'find_fox', { colour: 'red' }, signal)).toMatchObject({ isError: false })
  })

  test.each([
    ['what is no list', 'tools'],
    ['nothing', undefined],
  ])('that lists %s is an UPSTREAM_ERROR', async (_what, tools) => {
    const servers = await opened({ handshake, tools: tools ?? null })
    await expect(servers.list(at(), signal)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })
})

test.each(['stateless', 'reject'] as const)(
  'a server made by the package of the protocol is understood (older clients: %s)',
  async (legacy) => {
    const handler = createMcpHandler(
      () => {
        const server = new McpServer({ name: 'foxes', version: '1' })
        const colour = z.object({ colour: z.string() })
        server.registerTool('find_fox', { description: 'Finds a fox.', inputSchema: colour }, ({ colour: told }) => ({
          content: [{ type: 'text', text: `A ${told} fox` }],
        }))
        return server
      },
      { legacy },
    )
    const servers = mcpServers(async (url, { body, headers }) => {
      const answer = await handler.fetch(new Request(url, { method: 'POST', body, headers }))
      const told = new Uint8Array(await answer.arrayBuffer())
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: told }
    })
    expect(await servers.list(at(), signal)).toMatchObject([{ name: 'find_fox', description: 'Finds a fox.' }])
    expect(await servers.call(at(), 'find_fox', { colour: 'red' }, signal)).toEqual({
      text: 'A red fox',
      isError: false,
    })
  },
)

describe('a session with a tool server', () => {
  /** A server behind a handshake, in the place of which others may answer. */
  async function broken() {
    const heard: Heard[] = []
    const server = await localServer(toolServer({ handshake: true, heard }))
    closing.push(server.close)
    const web = webOver({ 'site.test': server.port })
    const instead: number[] = []
    const servers = mcpServers(async (url, request) => {
      const status = instead.shift()
      return status === undefined ? web.ask(url, request) : { status, headers: {}, body: new Uint8Array() }
    })
    const greetings = () => heard.filter(({ method }) => method === 'initialize').length
    return { servers, instead, greetings }
  }
  const call = (servers: ToolServers) => servers.call(at(), 'find_fox', { colour: 'red' }, signal)

  test('that the server has forgotten is opened anew, and the tool asked in that one, once', async () => {
    const { servers, instead, greetings } = await broken()
    await servers.list(at(), signal)
    const before = greetings()
    instead.push(404)
    expect(await call(servers)).toMatchObject({ isError: false })
    expect(greetings()).toBe(2 * before)
    instead.push(404, ...Array(9).fill(404))
    await expect(call(servers)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })

  test('that has failed is not used again', async () => {
    const { servers, instead, greetings } = await broken()
    await servers.list(at(), signal)
    const before = greetings()
    instead.push(500)
    await expect(call(servers)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect(greetings()).toBe(before)
    expect(await call(servers)).toMatchObject({ isError: false })
    expect(greetings()).toBe(2 * before)
  })
})

describe('a server that knows the two calls alone', () => {
  type Asked = { id: number; method: string }
  interface Told {
    status?: number
    headers?: Record<string, string>
    body: string
  }
  const told = ({ id }: Asked, result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result })
  const raw = (answer: (asked: Asked) => Told, toGreeting: Told = { status: 400, body: '{}' }) => {
    let greetings = 0
    const servers = mcpServers(async (_url, { body }) => {
      const asked = JSON.parse(body) as Asked
      const isKnown = asked.method.startsWith('tools/')
      if (!isKnown) greetings++
      const {
        status = 200,
        headers = { 'content-type': 'application/json' },
        body: text,
      } = isKnown ? answer(asked) : toGreeting
      return { status, headers, body: Buffer.from(text) }
    })
    return { servers, greetings: () => greetings }
  }
  const fox = { content: [{ type: 'text', text: 'A fox' }] }
  const call = (answer: (asked: Asked) => Told) => raw(answer).servers.call(at(), 'find_fox', {}, signal)

  test('may answer by lines of a stream, of which the one for this question counts', async () => {
    const answer = (asked: Asked) => ({
      headers: { 'content-type': 'text/event-stream' },
      body: `: hello\n\ndata: {"jsonrpc":"2.0","method":"note"}\n\ndata: ${told({ ...asked, id: 999 }, { content: [] })}\n\ndata: ${told(asked, fox)}\n\n`,
    })
    expect(await call(answer)).toEqual({ text: 'A fox', isError: false })
  })

  test.each<[string, (asked: Asked) => Told]>([
    ['to another question', (asked) => ({ body: told({ ...asked, id: 999 }, fox) })],
    ['with another status', (asked) => ({ status: 500, body: told(asked, fox) })],
    [
      'with an error',
      ({ id }) => ({ body: JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: 'no' } }) }),
    ],
    ['with what is no result', (asked) => ({ body: told(asked, { content: 'x' }) })],
  ])('that answers %s has failed', async (_what, answer) => {
    await expect(call(answer)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })

  test.each([200, 202, 204])('may take whatever else it is asked without an answer (%d)', async (status) => {
    const { servers } = raw((asked) => ({ body: told(asked, fox) }), { status, body: '' })
    const waiting = AbortSignal.timeout(5_000)
    expect(await servers.call(at(), 'find_fox', {}, waiting)).toEqual({ text: 'A fox', isError: false })
  })

  test('may answer without a text, by what it has structured and by other things', async () => {
    const structured = (asked: Asked) => ({ body: told(asked, { structuredContent: { foxes: 2 } }) })
    expect((await call(structured)).text).toBe('{"foxes":2}')
    const image = (asked: Asked) => ({ body: told(asked, { content: [{ type: 'image', data: 'AAAA' }] }) })
    expect((await call(image)).text).toBe('[image]')
  })

  test('T65: has 50 tools at the most, and is one of 200 that are kept', async () => {
    const tools = [{ name: '' }, ...Array.from({ length: 60 }, (_, at) => ({ name: `tool_${at}` }))]
    const { servers, greetings } = raw((asked) => ({ body: told(asked, { tools }) }))
    expect(await servers.list(at({}, 'first'), signal)).toHaveLength(50)
    const each = greetings()
    await servers.list(at({}, 'first'), signal)
    expect(greetings()).toBe(each)
    for (let other = 0; other < 200; other++) await servers.list(at({}, `other ${other}`), signal)
    expect(greetings()).toBe(201 * each)
    await servers.list(at({}, 'first'), signal)
    expect(greetings()).toBe(202 * each)
  })
})
