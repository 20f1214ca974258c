import type { IncomingMessage, Server } from 'node:http'
import { endUnreadable } from './unreadable.ts'

/** Node tells no more headers of a request than about these: the length of its body could be among the others. */
const toldHeaders = 1_000

/**
 * Answers requests that ask for another protocol where none is spoken as if they had not asked (RFC 9110, 7.8), as clients that would rather
 * speak HTTP/2 do with their first one: Node hands over the connection of whatever asks, and nobody would answer.
 */
export function passUpgrades(server: Server, isSpoken: (request: IncomingMessage) => boolean): void {
  server.on('upgrade', (request, socket, rest) => {
    if (isSpoken(request)) return
    if (request.rawHeaders.length >= 2 * toldHeaders) return endUnreadable(socket, 'HPE_HEADER_OVERFLOW')
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), 'latin1'), rest]))
    server.emit('connection', socket)
  })
}

function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    if (/^(upgrade|http2-settings)$/i.test(name)) continue
    const isConnection = /^connection$/i.test(name)
    const kept = value.split(',').filter((option) => !/^\s*(upgrade|http2-settings)\s*$/i.test(option))
    if (!isConnection) lines.push(`${name}: ${value}`)
    else if (kept.length > 0) lines.push(`${name}: ${kept.join(',')}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
