import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/errors'
import { type Asked, answerAsk, askHost } from './host-asks.ts'
import { type HostTokens, hostTokens } from './host-tokens.ts'
import type { MediaHost, MediaHosts, Video, VideoAddresses, VideoEvent } from './port.ts'

/** The engine of this node, whose ids begin with its own. */
export interface LocalHost {
  id: string
  rtmpUrl: string
  video: Video
  close(): Promise<void>
}

export interface HostsOptions {
  /** Null while another process has what this one would keep its streams in. */
  openLocal(): Promise<LocalHost | null>
  hosts: MediaHosts
  /** Where other nodes reach this one. */
  at: string
  secrets: readonly Uint8Array[]
  now(): number
  addresses: VideoAddresses
}

const beatMilliseconds = 2_000
const hostOf = (id: string): string => /^([0-9a-f]{8})-/.exec(id)?.[1] ?? ''

/** Livestreams of several nodes: each stream lives on the host that its ids name, and every node asks that one. */
export async function hostedVideo(options: HostsOptions): Promise<Video & { close(): Promise<void> }> {
  const { openLocal, hosts, at, addresses } = options
  const tokens = hostTokens(options.secrets, options.now)
  const hearers = new Set<(event: VideoEvent) => void>()
  const closing = new AbortController()
  let local: LocalHost | null = null
  let known: ReadonlyMap<string, MediaHost> = new Map()

  const server = createServer((request, response) => {
    serve(local, tokens, request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else response.writeHead(503).end()
    })
  })
  server.listen(0, at)
  await once(server, 'listening')
  const url = `http://${at.includes(':') ? `[${at}]` : at}:${(server.address() as AddressInfo).port}`

  async function beat(): Promise<void> {
    if (!local) {
      local = await openLocal()
      local?.video.subscribe((event) => {
        for (const hear of hearers) hear(event)
      })
    }
    if (local) await hosts.tell({ id: local.id, url, rtmpUrl: local.rtmpUrl })
    known = new Map((await hosts.live()).map((host) => [host.id, host]))
  }
  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      // What was known holds while the others cannot be looked up.
      await beat().catch(() => undefined)
      await pause(beatMilliseconds, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }
  const following = follow()

  const far = (host: string): MediaHost | null => {
    const found = known.get(host)
    return found && found.url !== url ? found : null
  }
  const askable = (host: string): Asked => {
    if (host === local?.id) return local.video
    const found = far(host)
    if (!found) throw new AppError('SERVICE_UNAVAILABLE')
    return askHost(found, tokens)
  }

  return {
    addresses: {
      ...addresses,
      rtmp: (key) => {
        const there = hostOf(key) === local?.id ? local : known.get(hostOf(key))
        return there ? `${there.rtmpUrl}/live/${key}` : addresses.rtmp(key)
      },
    },
    async createStream(stream) {
      const [first] = [...known.keys()].filter((host) => far(host))
      return askable(local?.id ?? first ?? '').createStream(stream)
    },
    async status(streamIds) {
      const owners = [...new Set(streamIds.map(hostOf))]
      const answers = await Promise.allSettled(
        owners.map(async (host) => askable(host).status(streamIds.filter((id) => hostOf(id) === host))),
      )
      return new Map(answers.flatMap((answer) => (answer.status === 'fulfilled' ? [...answer.value] : [])))
    },
    endStream: async (streamId) => askable(hostOf(streamId)).endStream(streamId),
    deleteStream: async (streamId) => askable(hostOf(streamId)).deleteStream(streamId),
    assets: async (streamId) => askable(hostOf(streamId)).assets(streamId),
    /** Of a stream that lives here. */
    async publishClock(streamId) {
      if (hostOf(streamId) === local?.id) await local.video.publishClock?.(streamId)
    },
    originOf(id) {
      if (hostOf(id) === local?.id) return local.video.originOf?.(id) ?? null
      const found = far(hostOf(id))
      if (!found) return null
      const { hostname, port } = new URL(found.url)
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), headers: tokens.headersFor(found.id) }
    },
    /** Of the streams that live here: other nodes hear of theirs. */
    subscribe(hear) {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
    async close() {
      closing.abort()
      await following
      if (local) await hosts.forget({ id: local.id, url, rtmpUrl: local.rtmpUrl }).catch(() => undefined)
      server.close()
      server.closeAllConnections()
      await local?.close()
    },
  }
}

/** What another node asks: of the streams that live here alone, so that nothing goes round. */
async function serve(
  local: LocalHost | null,
  tokens: HostTokens,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!local) return void response.writeHead(503).end()
  if (!tokens.isGood(request.headers.authorization, local.id)) return void response.writeHead(403).end()
  if (request.url === '/ask') return answerAsk(local.video, request, response)
  const origin = local.video.originOf?.('')
  if (!origin) return void response.writeHead(503).end()
  const { authorization: _, connection: __, host: ___, ...headers } = request.headers
  const { host, port } = origin
  const there = ask({ host, port, method: request.method, path: request.url, headers })
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
