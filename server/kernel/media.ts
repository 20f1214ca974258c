import { createHmac } from 'node:crypto'
import { Agent, request as ask, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response } from 'express'
import { clientHeader, type MediaAnswer, type MediaOrigin, notLive } from '#server/ports/video/port'
import { AppError } from '#shared/errors'
import { clientAddressOf } from './addresses.ts'
import { onAnswerEnd } from './http/deadline.ts'
import type { Door } from './http/http-guards.ts'
import { forbidScripts } from './http/http-headers.ts'
import { briefMemory } from './store/kept-answers.ts'

const name = '([A-Za-z0-9_-]{1,64})'
const paths = new RegExp(`^/(?:hls/${name}/[\\w.-]{1,64}|webrtc/${name}|recordings/${name}\\.mp4)$`)
const mostBodyBytes = 64 * 1024
const awaySeconds = 2
/** Longer than any held request. */
const quietMilliseconds = 40_000
/** Invalid offers of an address in a minute. */
const mostMisses = 20
/** Present media are cached for long, missing ones briefly. */
const remembered = { most: 10_000, thereMilliseconds: 60_000, missingMilliseconds: 1_000 }

/** Methods by which a client could guess a key, playback or session. */
const guesses = ['POST', 'DELETE']
const asked = ['accept', 'content-type', 'range', 'if-range', 'if-none-match', 'if-modified-since']
/** Headers of one connection or one site. */
const kept = ['connection', 'keep-alive', 'transfer-encoding', 'set-cookie', 'date']

type Passing = Pick<Door, 'kernel' | 'proxies'>
export type Media = ReturnType<typeof openMedia>

/**
 * Livestreams for anybody with their URL, on pages of any site. Requests are passed to the media service without data
 * about the client. It precedes the API's guards, whose limits suit occasional requests.
 */
export function openMedia(door: Passing) {
  const { node } = door.kernel
  const agent = new Agent({ keepAlive: true, maxSockets: 2_000, maxFreeSockets: 64, timeout: 120_000 })
  const there = briefMemory<true>(remembered.most)
  const missing = briefMemory<MediaAnswer | AppError>(remembered.most)

  /**
   * Caches the result of a request for media: clients of present media are viewers, and missing media stay missing
   * briefly.
   */
  function note({ method, path }: Request, name: string, outcome: MediaAnswer | AppError): void {
    if (!watches.includes(method)) return
    if (outcome.status < 400) there.set(name, true, remembered.thereMilliseconds)
    if (outcome.status !== 404 || !wholes.test(path)) return
    there.delete(name)
    missing.set(path, outcome, remembered.missingMilliseconds)
  }

  const handle: RequestHandler = async (request, response, next) => {
    const { id, name } = namesIn(request.path)
    const originOf = id === undefined ? undefined : node.services.video?.originOf
    if (id === undefined || !originOf) return next()
    response.setHeader('Access-Control-Allow-Origin', '*')
    forbidScripts(response)
    const known = watches.includes(request.method) ? missing.get(request.path) : undefined
    if (known instanceof AppError) throw known
    if (known) return answer(request, response, known)
    const isOffer = request.path.startsWith('/webrtc/') && request.method !== 'OPTIONS'
    const body = isOffer ? await bodyOf(request) : null
    const isGuess = isOffer && guesses.includes(request.method)
    const origin = await originOf(id, { method: request.method, path: request.url }).catch(async (error: unknown) => {
      if (!(error instanceof AppError)) throw error
      if (isGuess && error.code === 'NOT_FOUND') await refuseGuess(request, door)
      note(request, name, error)
      throw error.code === 'SERVICE_UNAVAILABLE' ? away(error) : error
    })
    if (!origin) throw away()
    if ('body' in origin) {
      note(request, name, origin)
      return answer(request, response, origin)
    }
    const headers = isOffer ? { ...origin.headers, [clientHeader]: nameOf(request, door) } : origin.headers
    await pass(request, response, body, { ...origin, headers }, agent, async (status, answerHeaders) => {
      if (isGuess && status === 404) await refuseGuess(request, door)
      if (status < 400 || answerHeaders['content-length'] === '0')
        note(request, name, { status, headers: answerHeaders, body: nothing })
    })
  }

  return {
    handle,
    /** The kind of a media request: present media, perhaps present, or an offer; null if it is none. */
    kindOf({ method = '' }: IncomingMessage, path: string): 'there' | 'perhaps' | 'offer' | null {
      const { id, name } = namesIn(path)
      if (id === undefined || !node.services.video?.originOf) return null
      if (path.startsWith('/webrtc/')) return method === 'OPTIONS' ? 'perhaps' : 'offer'
      return watches.includes(method) && there.get(name) ? 'there' : 'perhaps'
    },
  }
}

const watches = ['GET', 'HEAD']
/** The first request of a playback. A missing segment says nothing about the others. */
const wholes = /^\/(hls\/[^/]+\/index\.m3u8|recordings\/.+)$/
const nothing = Buffer.alloc(0)

/** The stream, playback, session or recording in a path, and its name in the cache. */
function namesIn(path: string): { id: string | undefined; name: string } {
  const [, ...names] = paths.exec(path) ?? []
  const id = names.find((one) => one !== undefined)
  return { id, name: `${path.split('/', 2)[1]} ${id}` }
}

/**
 * The webhook of a video provider, with the raw body. Its content is a hint, so only size and signature are checked.
 */
export function receiveProviderWebhook({ kernel: { node } }: Passing): RequestHandler {
  return async (request, response, next) => {
    const { video } = node.services
    if (!video?.webhook) return next()
    await video.webhook(await bodyOf(request), request.headers)
    response.status(204).end()
  }
}

const away = (cause?: unknown) => new AppError('SERVICE_UNAVAILABLE', { cause, retryAfter: awaySeconds })

/**
 * Throws for an unknown name. A limit prevents guessing of keys. Known names are always served, because many clients
 * share an address.
 */
async function refuseGuess(request: Request, { kernel: { node }, proxies }: Passing): Promise<never> {
  if (await node.limits.guard('webrtc', clientAddressOf(request, proxies), mostMisses, 60))
    throw new AppError(request.method === 'POST' ? 'INVALID_STREAM_KEY' : 'NOT_FOUND')
  throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 60 })
}

/** Equal for all clients of one address, without revealing it. */
const nameOf = (request: Request, { kernel: { node }, proxies }: Passing): string =>
  createHmac('sha256', node.settings.sessionKeys[0]?.secret ?? '')
    .update(`media client ${clientAddressOf(request, proxies)}`)
    .digest('base64url')

async function bodyOf(request: Request): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBodyBytes) throw new AppError('PAYLOAD_TOO_LARGE')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The error for missing or offline media; a media engine has no such codes. */
function refusalIn(status: number, headers: IncomingHttpHeaders): AppError | null {
  if (Object.entries(notLive).every(([name, value]) => headers[name] === value))
    return new AppError('STREAM_NOT_LIVE', { status })
  return status === 404 ? new AppError('NOT_FOUND') : null
}

function answer({ method }: Request, response: Response, { status, headers, body }: MediaAnswer): void {
  const refusal = refusalIn(status, headers)
  if (refusal) throw refusal
  response
    .status(status)
    .set({ ...headers, 'content-length': String(body.length) })
    .end(method === 'HEAD' ? undefined : body)
}

async function pass(
  request: Request,
  response: Response,
  body: Buffer | null,
  { host, port, headers }: MediaOrigin,
  agent: Agent,
  look: (status: number, headers: MediaAnswer['headers']) => Promise<void>,
): Promise<void> {
  const passed = pick(request.headers, (header) => asked.includes(header))
  const { method, url: path } = request
  const there = ask({ agent, host, port, method, path, headers: { ...passed, ...headers } })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    there.once('response', resolve)
    there.once('error', reject)
  })
  there.on('error', () => undefined)
  there.setTimeout(quietMilliseconds, () => there.destroy(new Error('It has gone quiet')))
  onAnswerEnd(request, response, () => there.destroy())
  there.end(body?.length ? body : undefined)
  const answer = await answered.catch((cause: unknown) => {
    throw away(cause)
  })
  const { statusCode: status = 502 } = answer
  const answerHeaders = pick(answer.headers, (header) => !kept.includes(header))
  try {
    await look(status, answerHeaders)
    const refusal = refusalIn(status, answer.headers)
    if (refusal) throw refusal
  } catch (refusal) {
    answer.resume()
    throw refusal
  }
  response.status(status).set(answerHeaders)
  // Either side may disconnect at any time.
  await pipeline(answer, response).catch(() => response.destroy())
}

const pick = (headers: IncomingHttpHeaders, isPicked: (header: string) => boolean) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([header, value = '']) =>
      isPicked(header) ? [[header, String(value)] as const] : [],
    ),
  )
