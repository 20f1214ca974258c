import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/errors'
import { answerRequest } from './host-requests.ts'
import type { HostTokens } from './host-tokens.ts'
import type { HeldStream, MediaRequest, Video } from './port.ts'

/** The engine of this node, whose ids begin with its own. */
export interface LocalHost {
  id: string
  rtmpUrl: string
  video: Video
  /** Goes on with a stream of another host. */
  adopt(stream: HeldStream): Promise<void>
  close(): Promise<void>
}

/** Before something is asked of the engine: what is to go on here does. */
type Look = (name: string, asked: MediaRequest) => Promise<void>

/** Where other nodes ask for streams of this one. */
export interface HostDoor {
  port: number
  close(): void
}

/**
 * Listens in this process alone, as workers of a crew would take each other's requests: at the first of the addresses that this machine
 * has. Throws where it cannot; port 0 takes any that is free.
 */
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

/** What another node asks: of the streams that live here alone, so that nothing goes round. */
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
    // Nodes of the version before sign no body, and no other node signs such a request without.
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
    const { connection: _closed, 'keep-alive': _kept, 'transfer-encoding': _coding, ...told } = answer.headers
    response.writeHead(answer.statusCode ?? 502, told)
    pipeline(answer, response).catch(() => response.destroy())
  })
  await pipeline(request, there).catch(() => there.destroy())
}
