import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { clientHeader, notLive } from '#server/ports/video/port'
import type { Live } from './live.ts'
import { chooseOffer } from './sdp.ts'

export interface Webrtc {
  /** Why a name cannot be published or watched: it is unknown, or nobody publishes it. */
  refusalOf(name: string): 404 | 'not live' | null
  /** Refuses unknown names (404), other codecs (406), pending offers of a client (429) and full servers (503). `session` ends it. */
  connect(
    name: string,
    offer: string,
    client: string,
  ): Promise<{ answer: string; session: string }> | 404 | 406 | 429 | 503
  /** Whether there was such a session. */
  end(session: string): boolean
}

const methods = 'HEAD, POST, DELETE, OPTIONS'
const mostBytes = 100_000
/** By then offers that were not connected have given up their places. */
const againSeconds = 10

/** Publishing and watching by WebRTC (RFC 9725 and its counterpart): an offer is answered at once, with all addresses. */
async function answerWebrtc(
  webrtc: Webrtc,
  name: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const end = (status: number, headers: Record<string, string> = {}, body = '') =>
    void response.writeHead(status, { 'cache-control': 'no-store', ...headers }).end(body)
  switch (request.method) {
    case 'OPTIONS':
      return end(204, {
        'access-control-allow-methods': methods,
        'access-control-allow-headers': 'Content-Type, Authorization',
        'access-control-max-age': '86400',
      })
    case 'HEAD':
      // Clients follow this redirect to find where to publish. The target differs, or they would loop forever.
      return url.searchParams.has('region') ? end(200) : end(307, { location: `${url.pathname}?region=local` })
    case 'DELETE':
      return end(webrtc.end(name) ? 200 : 404)
    case 'POST':
      break
    default:
      return end(405, { allow: methods })
  }
  const absent = webrtc.refusalOf(name)
  if (absent === 'not live') return end(406, notLive)
  if (absent) return end(absent)
  if (!/^application\/sdp\b/i.test(request.headers['content-type'] ?? '')) return end(415)
  const body = await read(request)
  if (body === null) return end(413, { connection: 'close' })
  const refused = refusal(body)
  if (refused) return end(refused)
  const connecting = webrtc.connect(name, body, String(request.headers[clientHeader] ?? ''))
  if (connecting === 429 || connecting === 503) return end(connecting, { 'retry-after': String(againSeconds) })
  if (typeof connecting === 'number') return end(connecting)
  const connected = await connecting.catch(() => null)
  if (!connected) return end(400)
  end(201, { 'content-type': 'application/sdp', location: `/webrtc/${connected.session}` }, connected.answer)
}

function refusal(offer: string): 400 | 406 | null {
  try {
    return chooseOffer(offer) ? null : 406
  } catch {
    return 400
  }
}

async function read(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBytes) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

interface ServedStreams {
  /** Null where nothing is shown of it. */
  live(playbackId: string): Live | null
  /** Whether the name is one by which a stream is watched, live or not. */
  isPlayback(playbackId: string): boolean
  /** Where the file of a recording is; null where it is not ready. */
  recording(assetId: string): string | null
  webrtc: Webrtc
}

const readable = 'GET, HEAD, OPTIONS'
const cors = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Location, Content-Length, Content-Range, Retry-After',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}
const allowed = {
  'access-control-allow-methods': readable,
  'access-control-allow-headers': 'Range, Content-Type',
  'access-control-max-age': '86400',
}
const name = '[A-Za-z0-9_-]{1,64}'
const paths = {
  hls: new RegExp(`^/hls/(${name})/([\\w.-]{1,64})$`),
  recording: new RegExp(`^/recordings/(${name})\\.mp4$`),
  webrtc: new RegExp(`^/webrtc/(${name})$`),
}
const kinds = { playlist: 'application/vnd.apple.mpegurl', media: 'video/mp4' }
const idleMilliseconds = 60_000

export function mediaServer(shown: ServedStreams): Server {
  const server = createServer({ keepAliveTimeout: idleMilliseconds }, (request, response) => {
    answer(shown, request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else end(response, 500)
    })
  })
  server.setTimeout(idleMilliseconds)
  return server
}

async function answer(shown: ServedStreams, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://media.local')
  for (const [header, value] of Object.entries(cors)) response.setHeader(header, value)
  const hls = paths.hls.exec(url.pathname)
  const recording = paths.recording.exec(url.pathname)
  const webrtc = paths.webrtc.exec(url.pathname)
  if (webrtc) return answerWebrtc(shown.webrtc, webrtc[1] ?? '', url, request, response)
  if (!hls && !recording) return end(response, 404)
  if (request.method === 'OPTIONS') {
    for (const [header, value] of Object.entries(allowed)) response.setHeader(header, value)
    return end(response, 204)
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', readable)
    return end(response, 405)
  }
  if (recording) return sendRecording(shown.recording(recording[1] ?? ''), request, response)
  const [, playbackId = '', file = ''] = hls ?? []
  const live = shown.live(playbackId)
  if (!live) return end(response, 404, shown.isPlayback(playbackId) ? notLive : {})
  return file === 'index.m3u8' ? sendPlaylist(live, url, response) : sendFile(live, file, response)
}

async function sendPlaylist(live: Live, { searchParams }: URL, response: ServerResponse): Promise<void> {
  const [sequence, part] = [numberOf(searchParams.get('_HLS_msn')), numberOf(searchParams.get('_HLS_part'))]
  if (sequence === null || part === null || (sequence === undefined && part !== undefined)) return end(response, 400)
  const playlist = await live.playlist(sequence, part)
  response.setHeader('cache-control', 'no-cache')
  if (playlist.status === 404) return end(response, 404, notLive)
  if (playlist.status !== 200) return end(response, playlist.status)
  send(response, kinds.playlist, Buffer.from(playlist.text))
}

async function sendFile(live: Live, file: string, response: ServerResponse): Promise<void> {
  const data = await live.file(file)
  if (!data) {
    response.setHeader('cache-control', 'no-cache')
    return end(response, 404)
  }
  response.setHeader('cache-control', 'public, max-age=300, immutable')
  send(response, kinds.media, data)
}

async function sendRecording(path: string | null, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const found = path === null ? null : await stat(path).catch(() => null)
  if (path === null || !found) return end(response, 404)
  response.setHeader('accept-ranges', 'bytes')
  response.setHeader('content-type', kinds.media)
  const range = rangeOf(request.headers.range, found.size)
  if (range === 'beyond') {
    response.setHeader('content-range', `bytes */${found.size}`)
    return end(response, 416)
  }
  const { start, last } = range ?? { start: 0, last: found.size - 1 }
  response.statusCode = range ? 206 : 200
  if (range) response.setHeader('content-range', `bytes ${start}-${last}/${found.size}`)
  response.setHeader('content-length', last - start + 1)
  if (request.method === 'HEAD') response.end()
  else await pipeline(createReadStream(path, { start, end: last }), response)
}

/** The requested range; null for all of it. */
function rangeOf(header: string | undefined, size: number): { start: number; last: number } | 'beyond' | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === '' && to === '') return null
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  return start <= last ? { start, last } : 'beyond'
}

/** Undefined where it is not given, null where it is no number. */
function numberOf(text: string | null): number | undefined | null {
  if (text === null) return undefined
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

function send(response: ServerResponse, kind: string, data: Buffer): void {
  response.setHeader('content-type', kind)
  response.setHeader('content-length', data.length)
  response.end(response.req.method === 'HEAD' ? undefined : data)
}

function end(response: ServerResponse, status: number, headers = {}): void {
  response.writeHead(status, headers).end()
}
