import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/errors'
import { answerRequest, type HostTokens } from './host-requests.ts'
import type { HeldStream, MediaRequest, Video } from './port.ts'

/** The engine of this node. */
export interface LocalHost {
  id: string
  rtmpUrl: string
  video: Video
  /** Continues a stream of another host. */
  adopt(stream: HeldStream): Promise<void>
  close(): Promise<void>
}

/** Called before a request to the engine, so that moved streams continue here. */
type Look = (name: string, asked: MediaRequest) => Promise<void>

/** The server for requests of other nodes. */
export interface HostDoor {
  port: number
  close(): void
}

/** Listens in this process alone, at the first usable address; workers would share requests. Throws if none works; port 0 takes any. */
export async function openDoor(
  local: LocalHost,
  tokens: HostTokens,
  look: Look,
  [host, ...others]: readonly string[],
  port: number,
): Promise<HostDoor> {
  const server = createServer((request, response) => {
    serve(local, tokens, look, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(error instanceof AppError ? error.status : 503).end()
    })
  })
  server.listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL' || others.length === 0) throw error
    return openDoor(local, tokens, look, others, port)
  }
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Answers requests about streams that live here alone, so that none circulate. */
async function serve(
  local: LocalHost,
  tokens: HostTokens,
  look: Look,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url: path = '/' } = request
  const refuse = (status: number) => void response.writeHead(status, { connection: 'close' }).end()
  const isGood = (body?: Buffer) =>
    tokens.isGood(request.headers.authorization, local.id, { method, path, ...(body ? { body } : {}) })
  if (path === '/ask') {
    // Nodes of the previous version sign no body.
    return answerRequest(local.video, (body) => isGood(body) || isGood(), request, response)
  }
  if (!isGood()) return refuse(403)
  await look(path.split(/[/?]/)[2] ?? '', { method, path })
  const origin = await local.video.originOf?.('', { method, path })
  if (!origin || !('port' in origin)) return refuse(503)
  const { authorization: _, connection: __, host: ___, ...headers } = request.headers
  const { host, port } = origin
  const there = ask({ host, port, method, path, headers })
  there.on('error', () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(503).end()
  })
  response.once('close', () => there.destroy())
  there.once('response', (answer) => {
    const { connection: _closed, 'keep-alive': _kept, 'transfer-encoding': _coding, ...headers } = answer.headers
    response.writeHead(answer.statusCode ?? 502, headers)
    pipeline(answer, response).catch(() => response.destroy())
  })
  await pipeline(request, there).catch(() => there.destroy())
}
