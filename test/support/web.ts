import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type Dialling, dialTls, guardedWeb } from '#server/ports/web/guarded'
import type { Web } from '#server/ports/web/port'

/** The key and certificate of site.test, all below it, and other.test; good for nothing but tests. */
export const loopbackTls = readFileSync(new URL('../fixtures/loopback-tls.pem', import.meta.url), 'utf8')
/** An address that is public, and that nothing here ever reaches. */
export const somewherePublic = '93.184.216.34'

/** A server on a free port of this machine; `hits` counts connections. */
export async function localServer(answer: RequestListener) {
  const server = createServer(answer)
  const local = { port: 0, hits: 0, close }
  server.on('connection', () => local.hits++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  local.port = (server.address() as AddressInfo).port
  return local

  async function close(): Promise<void> {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

/** The guarded web. Each of these hosts has a public address that leads to a local port over plain HTTP. */
export const webOver = (hosts: Readonly<Record<string, number>>, dialling: Partial<Dialling> = {}): Web =>
  guardedWeb(null, {
    resolve: async (host) => (host in hosts ? [somewherePublic] : []),
    dial: (_addresses, _port, host) => plain(hosts[host] ?? 0),
    ...dialling,
  })

/** As `webOver`, with TLS to the port, as the real one does it. */
export const tlsWebOver = (hosts: Readonly<Record<string, number>>): Web =>
  webOver(hosts, {
    dial: (_addresses, _port, host) => dialTls(['127.0.0.1'], hosts[host] ?? 0, host, { ca: loopbackTls }),
  })

async function plain(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}
