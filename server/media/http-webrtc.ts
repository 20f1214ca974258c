import type { IncomingMessage, ServerResponse } from 'node:http'
import { clientHeader, notLive } from '#server/ports/video/port'
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
export async function answerWebrtc(
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
