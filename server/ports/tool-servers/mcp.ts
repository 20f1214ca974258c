import { createHash } from 'node:crypto'
import type { JsonSchemaValidatorResult } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import { rawSession } from './json-rpc.ts'
import type { Fetcher, OpenToolServers, ToolServer } from './port.ts'
import { resultOf, type SendRequest, type Session, toolsOf } from './session.ts'

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
