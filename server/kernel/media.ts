import { createHmac } from 'node:crypto'
import { Agent, request as ask, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response } from 'express'
import { clientHeader, type MediaAnswer, type MediaOrigin } from '#server/ports/video/port'
import { AppError } from '#shared/errors'
import { clientOf } from './addresses.ts'
import { whenOver } from './answer-end.ts'
import type { Door } from './door.ts'
import { nothingRuns } from './http-guards.ts'

const name = '([A-Za-z0-9_-]{1,64})'
const paths = new RegExp(`^/(?:hls/${name}/[\\w.-]{1,64}|webrtc/${name}|recordings/${name}\\.mp4)$`)
const mostBodyBytes = 64 * 1024
const awaySeconds = 2
/** Longer than anything is held. */
const quietMilliseconds = 40_000
/** At an address: offers in so many seconds, which are fewer than a publisher who was lost has, and in a minute those with a name that is none. */
const most = { offers: 100, offerSeconds: 20, misses: 20, inSecond: 500 }

/** By what names a key, a playback or a session. */
const guesses = ['POST', 'DELETE']
const asked = ['accept', 'content-type', 'range', 'if-range', 'if-none-match', 'if-modified-since']
/** These are said of one connection, or to one site. */
const kept = ['connection', 'keep-alive', 'transfer-encoding', 'set-cookie', 'date']

type Passing = Pick<Door, 'kernel' | 'proxies' | 'slots'>

/**
 * Livestreams, which who has their address watches or publishes, from the page of any site: it is passed on to what shows them, as it
 * is asked, without what says who asks. It stands before the guards of the API, whose limits are for a request now and then.
 */
export function passMedia(door: Passing): RequestHandler {
  const agent = new Agent({ keepAlive: true, maxSockets: 2_000, maxFreeSockets: 64, timeout: 120_000 })
  return async (request, response, next) => {
    const [, ...names] = paths.exec(request.path) ?? []
    const id = names.find((one) => one !== undefined)
    const originOf = id === undefined ? undefined : door.kernel.node.services.video?.originOf
    if (id === undefined || !originOf) return next()
    response.setHeader('Access-Control-Allow-Origin', '*')
    nothingRuns(response)
    const { limits } = door.kernel.node
    const isAllowed =
      door.slots.view(request, response) &&
      (await limits.throttle('media', clientOf(request, door.proxies), most.inSecond, 1))
    if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: awaySeconds })
    const isOffer = request.path.startsWith('/webrtc/') && request.method !== 'OPTIONS'
    const body = isOffer ? await readOffer(request, door) : null
    const isGuess = isOffer && guesses.includes(request.method)
    const origin = await originOf(id, { method: request.method, path: request.url }).catch(async (error: unknown) => {
      if (!(error instanceof AppError)) throw error
      if (isGuess && error.code === 'NOT_FOUND') await refuseGuess(request, door)
      throw error.code === 'SERVICE_UNAVAILABLE' ? away(error) : error
    })
    if (!origin) throw away()
    if ('body' in origin) return answer(request, response, origin)
    const headers = isOffer ? { ...origin.headers, [clientHeader]: nameOf(request, door) } : origin.headers
    await pass(request, response, body, { ...origin, headers }, agent, async (status) => {
      if (isGuess && status === 404) await refuseGuess(request, door)
    })
  }
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
  if (await node.limits.guard('webrtc', clientOf(request, proxies), most.misses, 60))
    throw new AppError(request.method === 'POST' ? 'INVALID_STREAM_KEY' : 'NOT_FOUND')
  throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 60 })
}

/** The same for all who ask from one address, which it does not tell. */
const nameOf = (request: Request, { kernel: { node }, proxies }: Passing): string =>
  createHmac('sha256', node.settings.sessionKeys[0]?.secret ?? '')
    .update(`media client ${clientOf(request, proxies)}`)
    .digest('base64url')

async function readOffer(request: Request, { kernel: { node }, proxies }: Passing): Promise<Buffer> {
  if (await node.limits.throttle('webrtc', clientOf(request, proxies), most.offers, most.offerSeconds))
    return bodyOf(request)
  throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: most.offerSeconds })
}

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

function answer({ method }: Request, response: Response, { status, headers, body }: MediaAnswer): void {
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
  look: (status: number) => Promise<void>,
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
  await look(status).catch((refusal: unknown) => {
    answer.resume()
    throw refusal
  })
  response.status(status).set(pick(answer.headers, (header) => !kept.includes(header)))
  // Either may leave at any time.
  await pipeline(answer, response).catch(() => response.destroy())
}

const pick = (headers: IncomingHttpHeaders, isPicked: (header: string) => boolean) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([header, value = '']) => (isPicked(header) ? [[header, value] as const] : [])),
  )
