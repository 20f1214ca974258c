import type { IncomingMessage, Server } from 'node:http'
import { endUnreadable } from './unreadable.ts'

/** Node reports only about so many headers: the body's length could be among the others. */
const reportedHeaders = 1_000

/**
 * Answers upgrade requests as if they had not asked for one (RFC 9110, 7.8), such as those of HTTP/2 clients. Node
 * hands over the connection of each, which would otherwise get no answer.
 */
export function ignoreUpgrades(server: Server, isSpoken: (request: IncomingMessage) => boolean): void {
  server.on('upgrade', (request, socket, rest) => {
    if (isSpoken(request)) return
    if (request.rawHeaders.length >= 2 * reportedHeaders) return endUnreadable(socket, 'HPE_HEADER_OVERFLOW')
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
