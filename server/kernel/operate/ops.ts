import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostNameOf, isLoopbackName } from '#server/kernel/addresses'
import { metricsType } from './metrics.ts'

const usualPort = 9464

/** The data of the operators' port. */
export interface Ops {
  metrics(): Promise<string>
  degraded(): Promise<readonly string[]>
  /** Data that identify this process. */
  health(): Record<string, unknown>
  /** The reason why this node should get no requests; null if it is ready. */
  unready(): Promise<string | null>
}

/**
 * Health and metrics on a private port. On loopback it answers to local host names only, because a page could reach it
 * by DNS rebinding.
 */
export async function openOps({ port, host }: { port: number | undefined; host: string }, ops: Ops) {
  let draining = false
  const answers: Record<string, () => Promise<[status: number, type: string, body: string]>> = {
    '/metrics': async () => [200, metricsType, await ops.metrics()],
    '/healthz': async () => [200, 'application/json', JSON.stringify({ ok: true, ...ops.health() })],
    '/readyz': async () => {
      const reason = draining ? 'draining' : await ops.unready()
      const state = { ok: reason === null, reason, degraded: await ops.degraded() }
      return [state.ok ? 200 : 503, 'application/json', JSON.stringify(state)]
    },
  }
  const isForHere = isLoopbackName(host) || host === '::1'
  const server = createServer((request, response) => {
    response.setHeader('x-content-type-options', 'nosniff')
    if (isForHere && !isLoopbackName(hostNameOf(request))) return void response.writeHead(421).end()
    const answer = answers[new URL(request.url ?? '/', 'http://ops').pathname]
    if (!answer) return void response.writeHead(404).end()
    if (request.method !== 'GET') return void response.writeHead(405, { allow: 'GET' }).end()
    answer().then(
      ([status, type, body]) =>
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body),
      () => response.writeHead(500).end(),
    )
  })
  await listen(server, port ?? usualPort, host).catch((error: { code?: string }) => {
    if (port !== undefined || error.code !== 'EADDRINUSE') throw Object.assign(error, { variables: 'OPS_' })
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
