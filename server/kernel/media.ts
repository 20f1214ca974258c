import { createHmac } from 'node:crypto'
import { Agent, request as ask, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response } from 'express'
import { clientHeader, type MediaAnswer, type MediaOrigin, notLive } from '#server/ports/video/port'
import { AppError } from '#shared/errors'
import { clientOf } from './addresses.ts'
import { whenOver } from './answer-end.ts'
import { briefMemory } from './brief-memory.ts'
import type { Door } from './door.ts'
import { nothingRuns } from './http-headers.ts'

const name = '([A-Za-z0-9_-]{1,64})'
const paths = new RegExp(`^/(?:hls/${name}/[\\w.-]{1,64}|webrtc/${name}|recordings/${name}\\.mp4)$`)
const mostBodyBytes = 64 * 1024
const awaySeconds = 2
/** Longer than anything is held. */
const quietMilliseconds = 40_000
/** Offers with a name that is none, at an address in a minute. */
const mostMisses = 20
/** What is asked for most goes on to be there for so long, and what is not there is not looked for again so soon. */
const remembered = { most: 10_000, thereMilliseconds: 60_000, missingMilliseconds: 1_000 }

/** By what names a key, a playback or a session. */
const guesses = ['POST', 'DELETE']
const asked = ['accept', 'content-type', 'range', 'if-range', 'if-none-match', 'if-modified-since']
/** These are said of one connection, or to one site. */
const kept = ['connection', 'keep-alive', 'transfer-encoding', 'set-cookie', 'date']

type Passing = Pick<Door, 'kernel' | 'proxies'>
export type Media = ReturnType<typeof openMedia>

/**
 * Livestreams, which who has their address watches or publishes, from the page of any site: it is passed on to what shows them, as it
 * is asked, without what says who asks. It stands before the guards of the API, whose limits are for a request now and then.
 */
export function openMedia(door: Passing) {
  const { node } = door.kernel
  const agent = new Agent({ keepAlive: true, maxSockets: 2_000, maxFreeSockets: 64, timeout: 120_000 })
  const there = briefMemory<true>(remembered.most)
  const missing = briefMemory<MediaAnswer | AppError>(remembered.most)

  /** What came of a request for something that is shown: whoever asks for more of it watches, and what is missing is so for a moment. */
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
    nothingRuns(response)
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
    await pass(request, response, body, { ...origin, headers }, agent, async (status, told) => {
      if (isGuess && status === 404) await refuseGuess(request, door)
      if (status < 400 || told['content-length'] === '0') note(request, name, { status, headers: told, body: nothing })
    })
  }

  return {
    handle,
    /** What a request for media is: of something that was there a moment ago, or that may be, or one that offers. Null where it is for none. */
    kindOf({ method = '' }: IncomingMessage, path: string): 'there' | 'perhaps' | 'offer' | null {
      const { id, name } = namesIn(path)
      if (id === undefined || !node.services.video?.originOf) return null
      if (path.startsWith('/webrtc/')) return method === 'OPTIONS' ? 'perhaps' : 'offer'
      return watches.includes(method) && there.get(name) ? 'there' : 'perhaps'
    },
  }
}

const watches = ['GET', 'HEAD']
/** What is asked for first: a part that is missing says nothing of the others. */
const wholes = /^\/(hls\/[^/]+\/index\.m3u8|recordings\/.+)$/
const nothing = Buffer.alloc(0)

/** What names the stream, playback, session or recording that a path is of, and by what it is remembered. */
function namesIn(path: string): { id: string | undefined; name: string } {
  const [, ...names] = paths.exec(path) ?? []
  const id = names.find((one) => one !== undefined)
  return { id, name: `${path.split('/', 2)[1]} ${id}` }
}

/** What a provider of livestreams calls, with its body as it came. What it says is a hint, so that only its size and its signature are looked at. */
export function hearProvider({ kernel: { node } }: Passing): RequestHandler {
  return async (request, response, next) => {
    const { video } = node.services
    if (!video?.webhook) return next()
    await video.webhook(await bodyOf(request), request.headers)
    response.status(204).end()
  }
}

const away = (cause?: unknown) => new AppError('SERVICE_UNAVAILABLE', { cause, retryAfter: awaySeconds })

/**
 * Throws for a name that is none. A key cannot be guessed by asking often. What there is is let through whatever was guessed at its address,
 * as many people share one.
 */
async function refuseGuess(request: Request, { kernel: { node }, proxies }: Passing): Promise<never> {
  if (await node.limits.guard('webrtc', clientOf(request, proxies), mostMisses, 60))
    throw new AppError(request.method === 'POST' ? 'INVALID_STREAM_KEY' : 'NOT_FOUND')
  throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 60 })
}

/** The same for all who ask from one address, which it does not tell. */
const nameOf = (request: Request, { kernel: { node }, proxies }: Passing): string =>
  createHmac('sha256', node.settings.sessionKeys[0]?.secret ?? '')
    .update(`media client ${clientOf(request, proxies)}`)
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

/** What is not there, or not shown, is refused in words and by a code, for which an engine has none. */
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
  whenOver(request, response, () => there.destroy())
  there.end(body?.length ? body : undefined)
  const answer = await answered.catch((cause: unknown) => {
    throw away(cause)
  })
  const { statusCode: status = 502 } = answer
  const told = pick(answer.headers, (header) => !kept.includes(header))
  try {
    await look(status, told)
    const refusal = refusalIn(status, answer.headers)
    if (refusal) throw refusal
  } catch (refusal) {
    answer.resume()
    throw refusal
  }
  response.status(status).set(told)
  // Either may leave at any time.
  await pipeline(answer, response).catch(() => response.destroy())
}

const pick = (headers: IncomingHttpHeaders, isPicked: (header: string) => boolean) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([header, value = '']) =>
      isPicked(header) ? [[header, String(value)] as const] : [],
    ),
  )
