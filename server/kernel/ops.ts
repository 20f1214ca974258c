import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Database } from '#server/ports/database/port'
import type { Node } from './context.ts'
import { metrics } from './metrics.ts'

const usualPort = 9464

/** Health and figures, on a port of their own that the world does not see. */
export async function openOps(
  { port, host }: { port: number | undefined; host: string },
  database: Database,
  node: Node,
) {
  let draining = false
  const answers: Record<string, () => Promise<[status: number, type: string, body: string]>> = {
    '/metrics': async () => [200, metrics.contentType, await metrics.text()],
    '/healthz': async () => [200, 'application/json', JSON.stringify({ ok: true, node: node.id })],
    '/readyz': async () => {
      const reason = draining
        ? 'draining'
        : await database.ping().then(
            () => null,
            () => 'the database does not answer',
          )
      return [reason === null ? 200 : 503, 'application/json', JSON.stringify({ ok: reason === null, reason })]
    },
  }
  const server = createServer((request, response) => {
    const answer = answers[new URL(request.url ?? '/', 'http://ops').pathname]
    if (!answer || request.method !== 'GET') return void response.writeHead(404).end()
    answer().then(
      ([status, type, body]) =>
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body),
      () => response.writeHead(500).end(),
    )
  })
  await listen(server, port ?? usualPort, host).catch((error: { code?: string }) => {
    if (port !== undefined || error.code !== 'EADDRINUSE') throw error
    return listen(server, 0, host)
  })
  const address = server.address() as AddressInfo
  return {
    url: `http://${host}:${address.port}`,
    drain: () => {
      draining = true
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
