import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { HeldStream, MediaHost, MediaRequest, Video } from './port.ts'

/** A request with its signed bytes; media pass unsigned. */
interface SignedRequest extends MediaRequest {
  body?: Uint8Array
}

/** Signatures by which nodes authenticate each other. */
interface HostTokens {
  headersFor(host: string, asked: SignedRequest): Readonly<Record<string, string>>
  isGood(authorization: string | undefined, host: string, asked: SignedRequest): boolean
}

const goodMilliseconds = 30_000

/** Bound to host, method, path, body if any, and a short time; the first secret signs, all verify. */
export function hostTokens(secrets: readonly Uint8Array[], now: () => number): HostTokens {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'plaza media hosts', 32)))
  function signed(key: Buffer, host: string, { method, path, body }: SignedRequest, time: string): Buffer {
    const parts = [host, time, method, path, ...(body ? [createHash('sha256').update(body).digest('hex')] : [])]
    return createHmac('sha256', key).update(parts.join(' ')).digest()
  }
  return {
    headersFor(host, asked) {
      const [key] = keys
      const time = String(now())
      return key ? { authorization: `Host ${time}.${signed(key, host, asked, time).toString('base64url')}` } : {}
    },
    isGood(authorization, host, asked) {
      const [, time = '', given = ''] = /^Host (\d{1,16})\.([\w-]{43})$/.exec(authorization ?? '') ?? []
      if (time === '' || Math.abs(now() - Number(time)) > goodMilliseconds) return false
      return keys.some((key) => timingSafeEqual(signed(key, host, asked, time), Buffer.from(given, 'base64url')))
    },
  }
}

/** Requests of a node about streams of another. */
export type HostRequests = Pick<Video, 'createStream' | 'status' | 'endStream' | 'deleteStream' | 'assets'>

const bounds = { timeoutMilliseconds: 12_000, maxBytes: 4 * 2 ** 20 }
const mostBytes = 256 * 1024

const Question = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('createStream'), stream: z.object({ name: z.string(), record: z.boolean() }) }),
  z.object({ ask: z.literal('status'), streamIds: z.array(z.string()) }),
  // Absent from nodes of the previous version.
  z.object({ ask: z.literal('endStream'), streamId: z.string(), isShown: z.boolean().default(true) }),
  z.object({ ask: z.enum(['deleteStream', 'assets']), streamId: z.string() }),
])

const time = z.iso.datetime().transform((text) => new Date(text))
const Created = z.object({ streamId: z.string(), streamKey: z.string(), playbackId: z.string() })
const Status = z.object({
  state: z.enum(['idle', 'live', 'interrupted']),
  lastSeen: time.nullable(),
  bitrate: z.number().exactOptional(),
  dropped: z.number().exactOptional(),
})
const Statuses = z.array(z.tuple([z.string(), Status]))
const Assets = z.array(
  z.object({
    assetId: z.string(),
    streamId: z.string(),
    phase: z.enum(['waiting', 'processing', 'ready', 'failed']),
    progress: z.number(),
    startedAt: time,
    durationSeconds: z.number().nullable(),
    sizeBytes: z.number().nullable(),
    error: z.string().nullable(),
    playbackId: z.string().nullable(),
    playbackUrl: z.string().nullable(),
    downloadUrl: z.string().nullable(),
  }),
)

/** Sends requests to another node, which counts as away without a proper answer. */
export function requestsTo(host: MediaHost, tokens: HostTokens): HostRequests {
  async function ask<Schema extends z.ZodType>(question: z.input<typeof Question>, answer: Schema) {
    try {
      const body = JSON.stringify(question)
      const asked = { method: 'POST', path: '/ask', ...(host.signsBodies ? { body: Buffer.from(body) } : {}) }
      const headers = { ...tokens.headersFor(host.id, asked), 'content-type': 'application/json' }
      const { status, text } = await fetchText(`${host.url}/ask`, { method: 'POST', headers, body }, bounds)
      if (status !== 200) throw new Error(`It answers ${status}`)
      return answer.parse(JSON.parse(text))
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', { cause })
    }
  }
  const nothing = z.null().transform(() => undefined)
  return {
    createStream: (stream) => ask({ ask: 'createStream', stream }, Created),
    status: async (streamIds) => new Map(await ask({ ask: 'status', streamIds: [...streamIds] }, Statuses)),
    endStream: (streamId, isShown) => ask({ ask: 'endStream', streamId, isShown }, nothing),
    deleteStream: (streamId) => ask({ ask: 'deleteStream', streamId }, nothing),
    assets: (streamId) => ask({ ask: 'assets', streamId }, Assets),
  }
}

/** Answers a request of another node, if `isGood` accepts its signature. */
async function answerRequest(
  video: HostRequests,
  isGood: (body: Buffer) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBytes) return void response.writeHead(413, { connection: 'close' }).end()
    parts.push(part)
  }
  const body = Buffer.concat(parts)
  if (!isGood(body)) return void response.writeHead(403, { connection: 'close' }).end()
  const question = Question.parse(JSON.parse(body.toString()))
  const answer = await answerOf(video, question)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? null))
}

async function answerOf(video: HostRequests, question: z.output<typeof Question>): Promise<unknown> {
  switch (question.ask) {
    case 'createStream':
      return video.createStream(question.stream)
    case 'status':
      return [...(await video.status(question.streamIds))]
    case 'endStream':
      return video.endStream(question.streamId, question.isShown)
    default:
      return video[question.ask](question.streamId)
  }
}

/** The engine of this node. */
export interface LocalHost {
  id: string
  rtmpUrl: string
  video: Video
  /** Continues a stream of another host. */
  adopt(stream: HeldStream): Promise<void>
  close(): Promise<void>
}

/** Called before a request to the engine, so that moved streams continue here. */
type Look = (name: string, asked: MediaRequest) => Promise<void>

/** The server for requests of other nodes. */
export interface HostDoor {
  port: number
  close(): void
}

/** Listens in this process alone, at the first usable address; workers would share requests. Throws if none works; port 0 takes any. */
export async function openDoor(
  local: LocalHost,
  tokens: HostTokens,
  look: Look,
  [host, ...others]: readonly string[],
  port: number,
): Promise<HostDoor> {
  const server = createServer((request, response) => {
    serve(local, tokens, look, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(error instanceof AppError ? error.status : 503).end()
    })
  })
  server.listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL' || others.length === 0) throw error
    return openDoor(local, tokens, look, others, port)
  }
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Answers requests about streams that live here alone, so that none circulate. */
async function serve(
  local: LocalHost,
  tokens: HostTokens,
  look: Look,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url: path = '/' } = request
  const refuse = (status: number) => void response.writeHead(status, { connection: 'close' }).end()
  const isGood = (body?: Buffer) =>
    tokens.isGood(request.headers.authorization, local.id, { method, path, ...(body ? { body } : {}) })
  if (path === '/ask') {
    // Nodes of the previous version sign no body.
    return answerRequest(local.video, (body) => isGood(body) || isGood(), request, response)
  }
  if (!isGood()) return refuse(403)
  await look(path.split(/[/?]/)[2] ?? '', { method, path })
  const origin = await local.video.originOf?.('', { method, path })
  if (!origin || !('port' in origin)) return refuse(503)
  const { authorization: _, connection: __, host: ___, ...headers } = request.headers
  const { host, port } = origin
  const there = ask({ host, port, method, path, headers })
  there.on('error', () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(503).end()
  })
  response.once('close', () => there.destroy())
  there.once('response', (answer) => {
    const { connection: _closed, 'keep-alive': _kept, 'transfer-encoding': _coding, ...headers } = answer.headers
    response.writeHead(answer.statusCode ?? 502, headers)
    pipeline(answer, response).catch(() => response.destroy())
  })
  await pipeline(request, there).catch(() => there.destroy())
}
