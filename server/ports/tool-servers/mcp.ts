import { createHash } from 'node:crypto'
import type { JsonSchemaValidatorResult } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import type { Fetcher, OfferedTool, OpenToolServers, ToolResult, ToolServer } from './port.ts'

/** A connection to one server, however it is spoken to. */
interface Session {
  list(signal: AbortSignal): Promise<readonly OfferedTool[]>
  call(name: string, given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult>
}

/** Asks with the headers of the server beside these. */
type SendRequest = (
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Uint8Array }>

const mostTools = 50

const Tool = z.object({
  name: z.string().min(1).max(128),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
})

const Named = z.object({ name: z.string().min(1).max(128) })
const malformed = 'This tool is malformed, and is not used.'

/** The tools of a list; a malformed one does not affect the others. */
function toolsOf(told: unknown): OfferedTool[] {
  const listed = z.array(z.unknown()).safeParse(told)
  if (!listed.success) throw new AppError('UPSTREAM_ERROR', { cause: new Error('The tool server listed no tools') })
  return listed.data.slice(0, mostTools).map((one, at) => {
    const tool = Tool.safeParse(one).data
    if (tool) return { name: tool.name, description: tool.description ?? '', inputSchema: tool.inputSchema ?? {} }
    const name = Named.safeParse(one).data?.name ?? `Tool ${at + 1}`
    return { name, description: malformed, inputSchema: null }
  })
}

const Result = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
})

/** The text of a result; what is no text is named only. */
function resultOf(told: unknown): ToolResult {
  const read = Result.safeParse(told)
  if (!read.success) throw new AppError('UPSTREAM_ERROR', { cause: new Error('The tool server answered no result') })
  const { content, structuredContent, isError } = read.data
  const texts = (content ?? []).map(({ type, text }) => text ?? `[${type}]`)
  const text = texts.length > 0 ? texts.join('\n') : JSON.stringify(structuredContent ?? null)
  return { text, isError: isError ?? false }
}

const Answer = z.object({ id: z.union([z.string(), z.number()]), result: z.record(z.string(), z.unknown()) })

/** For servers that know `tools/list` and `tools/call` alone, without a handshake. */
function rawSession(url: string, asking: SendRequest): Session {
  let last = 0
  return {
    async list(signal) {
      return toolsOf((await ask('tools/list', {}, signal)).tools)
    },
    async call(name, given, signal) {
      return resultOf(await ask('tools/call', { name, arguments: given }, signal))
    },
  }

  async function ask(method: string, params: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    const id = ++last
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const { status, headers, body: bytes } = await asking(url, body, acceptable, signal)
    const text = new TextDecoder().decode(bytes)
    const isStream = headers['content-type']?.includes('text/event-stream') ?? false
    const found = (isStream ? linesOf(text) : [text]).map((line) => Answer.safeParse(readJson(line)).data)
    const answer = found.find((one) => one !== undefined && String(one.id) === String(id))
    if (status !== 200 || !answer)
      throw new AppError('UPSTREAM_ERROR', { cause: new Error(`The tool server answered ${status}`) })
    return answer.result
  }
}

const acceptable = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const linesOf = (text: string) => [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data)

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const timeoutMilliseconds = 8_000
const maxBytes = 1024 * 1024
/** Sessions of this many servers are kept; the one that was opened longest ago goes first. */
const mostSessions = 200

/** Servers of the Model Context Protocol, and those that know no more of it than its two calls. */
export const mcpServers: OpenToolServers = (ask) => {
  const sessions = new Map<string, Promise<Opened>>()

  /** A failed session is not used again. A server that has forgotten one did nothing yet, and gets a new one. */
  async function within<T>(server: ToolServer, signal: AbortSignal, use: (session: Session) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const key = keyOf(server)
    const kept = sessions.get(key)
    const opening = kept ?? keep(key, open(ask, server))
    try {
      const { session, seen } = await untilAborted(signal, opening)
      seen.failure = null
      try {
        return await untilAborted(signal, use(session))
      } catch (error) {
        signal.throwIfAborted()
        if (!kept || seen.status !== 404) throw seen.failure ?? error
      }
    } catch (error) {
      sessions.delete(key)
      if (signal.aborted || error instanceof AppError) throw error
      throw new AppError('UPSTREAM_ERROR', { cause: new Error('The tool server failed') })
    }
    sessions.delete(key)
    return within(server, signal, use)
  }

  function keep(key: string, opened: Promise<Opened>): Promise<Opened> {
    const [oldest] = sessions.keys()
    if (oldest !== undefined && sessions.size >= mostSessions) sessions.delete(oldest)
    sessions.set(key, opened)
    return opened
  }

  return {
    list: (server, signal) => within(server, signal, (session) => session.list(signal)),
    call: (server, name, given, signal) => within(server, signal, (session) => session.call(name, given, signal)),
  }
}

/** What the last request of a session came to; the client tells less. */
interface Seen {
  status: number
  failure: unknown
}

interface Opened {
  session: Session
  seen: Seen
}

async function open(ask: Fetcher, { url, headers }: ToolServer): Promise<Opened> {
  const seen: Seen = { status: 0, failure: null }
  const asking: SendRequest = async (to, body, own, signal) => {
    try {
      const answer = await ask(to, { body, headers: { ...own, ...headers }, maxBytes, timeoutMilliseconds, signal })
      seen.status = answer.status
      return answer
    } catch (error) {
      seen.failure = error
      throw error
    }
  }
  return { session: (await speaking(url, asking, seen)) ?? rawSession(url, asking), seen }
}

/** Null where the server answers, but does not speak the protocol. */
async function speaking(url: string, asking: SendRequest, seen: Seen): Promise<Session | null> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client(
    { name: 'plaza', version: '1' },
    { versionNegotiation: { mode: 'auto' }, jsonSchemaValidator: { getValidator: <T>() => trusting<T> } },
  )
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: fetching(asking) })
  try {
    await client.connect(transport, { timeout: timeoutMilliseconds })
  } catch {
    await client.close().catch(() => {})
    if (seen.failure) throw seen.failure
    return null
  }
  const bounds = (signal: AbortSignal) => ({ signal, timeout: timeoutMilliseconds })
  /** The client refuses a list as a whole where one tool in it is malformed. */
  const listed = (signal: AbortSignal) =>
    client.listTools({}, bounds(signal)).catch((error: unknown) => {
      if (signal.aborted || seen.failure || seen.status !== 200) throw error
      return client.request({ method: 'tools/list', params: {} }, List, bounds(signal))
    })
  return {
    list: async (signal) => toolsOf((await listed(signal)).tools),
    call: async (name, given, signal) =>
      resultOf(await client.callTool({ name, arguments: { ...given } }, bounds(signal))),
  }
}

const List = z.looseObject({ tools: z.unknown() })

/** What a tool says of its own results is not ours to check, and patterns of others would run here. */
const trusting = <T>(data: unknown): JsonSchemaValidatorResult<T> => ({
  valid: true,
  data: data as T,
  errorMessage: undefined,
})

/** Requests alone: a server is not listened to, and no session is ended but by its own time. */
const fetching =
  (asking: SendRequest) =>
  async (to: string | URL, { method = 'GET', headers, body, signal }: RequestInit = {}): Promise<Response> => {
    if (method !== 'POST' || typeof body !== 'string') return new Response(null, { status: 405 })
    const sent = Object.fromEntries(new Headers(headers))
    const answer = await asking(String(to), body, sent, signal ?? new AbortController().signal)
    const isEmpty = answer.body.byteLength === 0 || [204, 205, 304].includes(answer.status)
    // The client would wait for an answer to come by another way.
    if (isEmpty && answer.status < 300 && isRequest(body)) return new Response(null, { status: 501 })
    return new Response(isEmpty ? null : Buffer.from(answer.body), {
      status: answer.status,
      headers: { ...answer.headers },
    })
  }

const isRequest = (body: string) => (JSON.parse(body) as { id?: unknown }).id !== undefined

const keyOf = ({ url, headers, of }: ToolServer) =>
  createHash('sha256')
    .update(JSON.stringify([of, url, headers]))
    .digest('base64url')

/** What others wait for as well goes on. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const left = () => reject(signal.reason)
    signal.addEventListener('abort', left, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', left))
  })
}
