import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The header with the client's pretended address; a real proxy takes the address from the connection. */
export const standing = 'x-test-stands-at'
/** The headers of a client at this address. */
export const at = (address: string, more = {}) => ({ [standing]: address, ...more })

/**
 * A typical reverse proxy. It keeps a few connections to its server, forwards WebSockets, and appends the client's address to
 * any `X-Forwarded-For`.
 */
export async function openProxy(target: string) {
  const { hostname, port } = new URL(target)
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const passedOn = ({ headers, method, url, socket }: IncomingMessage) => {
    const { [standing]: at = socket.remoteAddress, ...others } = headers
    const forwarded = [headers['x-forwarded-for'], at].flat().filter(Boolean).join(', ')
    return { hostname, port, method, path: url, headers: { ...others, 'x-forwarded-for': forwarded } }
  }
  const server = createServer((incoming, outgoing) => {
    const onward = request({ ...passedOn(incoming), agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroyed || outgoing.writeHead(502).end())
    incoming.pipe(onward)
  })
  server.on('upgrade', (incoming: IncomingMessage, client, head) => {
    const onward = request(passedOn(incoming))
    const write = (answer: IncomingMessage) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`)
      client.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${lines.join('')}\r\n`)
    }
    onward.on('upgrade', (answer, upstream, first) => {
      write(answer)
      client.write(first)
      upstream.write(head)
      client.pipe(upstream).pipe(client)
      for (const side of [client, upstream]) {
        side.on('error', () => undefined)
        side.on('close', () => {
          client.destroy()
          upstream.destroy()
        })
      }
    })
    onward.on('response', (answer) => {
      write(answer)
      client.end()
    })
    onward.on('error', () => client.destroy())
    client.on('error', () => onward.destroy())
    onward.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      agent.destroy()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
