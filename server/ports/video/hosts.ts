import { createHash } from 'node:crypto'
import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/errors'
import { type HostDoor, type HostRequests, hostTokens, type LocalHost, openDoor, requestsTo } from './host-requests.ts'
import type {
  HeldStream,
  MediaAnswer,
  MediaHost,
  MediaHosts,
  MediaOrigin,
  MediaRequest,
  Video,
  VideoAddresses,
  VideoEvent,
} from './port.ts'
import { sharedAnswers, sharedPath } from './shared-answers.ts'

/** The host of this process, for moved streams. */
interface LocationHost {
  id: string
  /** Continues a stream of another host; one that it has stays unchanged. */
  adopt(stream: HeldStream): Promise<void>
  endStream(streamId: string): Promise<void>
}

/** The locations of streams: the host in their ids, or the host that continued them. */
interface StreamLocations {
  /** The known host of a stream, playback, key, session or recording; empty for other names. */
  of(name: string): string
  /** All hosts of a stream, the current one first. */
  all(streamId: string): string[]
  /** Reads moves: continues streams that came here, and ends those that left. */
  refresh(here: LocationHost | null): Promise<void>
  /** Locates a name whose host is away. A stream's key continues the stream here. Throws NOT_FOUND without an open stream. */
  look(name: string, isThere: (host: string) => boolean, here: LocationHost | null): Promise<void>
}

export const keyDigestOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const homeOf = (name: string): string => /^([0-9a-f]{8})-/.exec(name)?.[1] ?? ''

export function streamLocations(hosts: Pick<MediaHosts, 'moved' | 'find' | 'move'>): StreamLocations {
  let moved: ReadonlyMap<string, string> = new Map()
  /** The host that this process has applied for each stream. */
  const settled = new Map<string, string>()

  const of = (name: string) =>
    moved.size === 0 ? homeOf(name) : (moved.get(name) ?? moved.get(keyDigestOf(name)) ?? homeOf(name))

  async function settle({ streamId, host, ...stream }: HeldStream, here: LocationHost): Promise<void> {
    if (settled.get(streamId) === host) return
    settled.set(streamId, host)
    const settling = host === here.id ? here.adopt({ streamId, host, ...stream }) : here.endStream(streamId)
    await settling.catch(() => settled.delete(streamId))
  }

  async function refresh(here: LocationHost | null): Promise<void> {
    const streams = await hosts.moved()
    moved = new Map(
      streams.flatMap(({ streamId, playbackId, digest, host }) =>
        [streamId, playbackId, digest].map((name) => [name, host] as const),
      ),
    )
    if (here) await Promise.all(streams.filter(({ isOpen }) => isOpen).map((stream) => settle(stream, here)))
  }

  return {
    of,
    all: (streamId) => [...new Set([of(streamId), homeOf(streamId)])],
    refresh,
    async look(name, isThere, here) {
      const digest = keyDigestOf(name)
      const stream = await hosts.find(name, digest)
      if (!stream) throw new AppError('NOT_FOUND')
      if (here && stream.digest === digest && !isThere(stream.host))
        await hosts.move(stream.streamId, stream.host, here.id)
      await refresh(here)
    },
  }
}

/** Longer than a held playlist: three times the longest segment. */
const mostMilliseconds = 35_000
const mostBytes = 64 * 2 ** 20
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date']

/** Fetches whole media answers from other nodes. */
interface RemoteMedia {
  /** Throws SERVICE_UNAVAILABLE if the answer is late or incomplete. */
  get(origin: MediaOrigin, path: string): Promise<MediaAnswer>
  /** Ends requests to hosts that are away. */
  giveUp(isAway: (origin: MediaOrigin) => boolean): void
}

function remoteMedia(): RemoteMedia {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: 120_000 })
  const asked = new Map<ClientRequest, MediaOrigin>()
  return {
    async get(origin, path) {
      const { host, port, headers } = origin
      const there = request({ agent, host, port, path, headers })
      const late = setTimeout(() => there.destroy(new Error('It did not answer in time')), mostMilliseconds)
      asked.set(there, origin)
      try {
        const answer = await answerOf(there)
        if (answer.status === 403) throw new Error('It does not know this node')
        return answer
      } catch (cause) {
        there.destroy()
        throw new AppError('SERVICE_UNAVAILABLE', { cause })
      } finally {
        clearTimeout(late)
        asked.delete(there)
      }
    },
    giveUp(isAway) {
      for (const [there, origin] of asked) if (isAway(origin)) there.destroy(new Error('It is away'))
    },
  }
}

function answerOf(there: ClientRequest): Promise<MediaAnswer> {
  return new Promise((resolve, reject) => {
    there.once('error', reject)
    there.once('response', async (answer) => {
      const parts: Buffer[] = []
      let bytes = 0
      try {
        for await (const part of answer as AsyncIterable<Buffer>) {
          bytes += part.length
          if (bytes > mostBytes) throw new Error(`It answers with more than ${mostBytes} bytes`)
          parts.push(part)
        }
        resolve({ status: answer.statusCode ?? 502, headers: headersOf(answer.headers), body: Buffer.concat(parts) })
      } catch (error) {
        reject(error)
      }
    })
    there.end()
  })
}

const headersOf = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !ofConnection.includes(name) ? [[name, value] as const] : [],
    ),
  )

interface HostsOptions {
  /** The prefix of ids of streams that this process may store; other processes may share it. */
  home: string
  /** Null while another process has what this one would keep its streams in. */
  openLocal(): Promise<LocalHost | null>
  hosts: MediaHosts
  /** Where other nodes reach this one; null where it is known to processes of this machine alone. */
  nodeUrl: URL | null
  /** The listening address if it is not of this machine, as in a container; null if that is a mistake. */
  otherwiseAt: string | null
  secrets: readonly Uint8Array[]
  now(): number
  addresses: VideoAddresses
}

const beatMilliseconds = 2_000
const loopback = '127.0.0.1'
const gone: MediaAnswer = { status: 404, headers: { 'cache-control': 'no-cache' }, body: Buffer.alloc(0) }

/** Livestreams of several nodes: a stream lives at the host in its id. If that is away, the publishing node continues it. */
export async function hostedVideo(
  options: HostsOptions,
): Promise<Video & { lacks(): string | null; close(): Promise<void> }> {
  const { home, openLocal, hosts, nodeUrl, otherwiseAt, addresses } = options
  const tokens = hostTokens(options.secrets, options.now)
  const hearers = new Set<(event: VideoEvent) => void>()
  const closing = new AbortController()
  const where = streamLocations(hosts)
  const [answers, media] = [sharedAnswers(), remoteMedia()]
  let local: LocalHost | null = null
  let door: HostDoor | null = null
  let problem: string | null = null
  let known: ReadonlyMap<string, MediaHost> = new Map()

  function own(): MediaHost | null {
    if (!local || !door) return null
    const url = `http://${nodeUrl?.hostname ?? loopback}:${door.port}`
    return { id: local.id, url, isNamed: nodeUrl !== null, rtmpUrl: local.rtmpUrl, signsBodies: true }
  }

  function mover(): LocationHost | null {
    return local && { id: local.id, adopt: local.adopt, endStream: local.video.endStream }
  }

  async function beat(): Promise<void> {
    // Before its engine reports live streams, as it does not know of moves.
    await where.refresh(mover())
    if (!local) {
      local = await openLocal()
      local?.video.subscribe((event) => {
        if ('streamId' in event && where.of(event.streamId) !== local?.id) return
        for (const hear of hearers) hear(event)
      })
    }
    if (local && !door) await listen(local)
    const told = own()
    if (told) await hosts.tell(told)
    known = new Map((await hosts.live()).map((host) => [host.id, host]))
    media.giveUp(({ host, port }) => ![...known.values()].some(({ url }) => isAt(url, host, port)))
  }
  async function listen(host: LocalHost): Promise<void> {
    const at = nodeUrl ? placeOf(nodeUrl) : { host: loopback, port: 0 }
    try {
      door = await openDoor(host, tokens, look, [at.host, ...(otherwiseAt ? [otherwiseAt] : [])], at.port)
      problem = null
    } catch (error) {
      problem = `NODE_URL is no address that this machine can listen at (${(error as NodeJS.ErrnoException).code})`
    }
  }
  // What was known holds while the others cannot be looked up.
  const tryBeat = () => beat().catch(() => undefined)
  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      await pause(beatMilliseconds, undefined, { signal: closing.signal }).catch(() => undefined)
      if (!closing.signal.aborted) await tryBeat()
    }
  }
  await tryBeat()
  const following = follow()

  /** Those that can be reached: by their name, or as they share the place of this process. */
  const far = (host: string): MediaHost | null => {
    const found = known.get(host)
    return found && host !== local?.id && (found.isNamed || host === home) ? found : null
  }
  const isThere = (host: string) => host === local?.id || known.has(host)
  async function look(name: string, { method, path }: MediaRequest): Promise<void> {
    if (isThere(where.of(name)) || path.startsWith('/recordings/')) return
    const isOffer = method === 'POST' && path.startsWith('/webrtc/')
    await where.look(name, isThere, isOffer && lacks() === null ? mover() : null).catch((cause: unknown) => {
      throw cause instanceof AppError ? cause : new AppError('SERVICE_UNAVAILABLE', { cause })
    })
  }
  const askable = (host: string): HostRequests => {
    if (host === local?.id) return local.video
    const found = far(host)
    if (!found) throw new AppError('SERVICE_UNAVAILABLE')
    return requestsTo(found, tokens)
  }
  const originAt = ({ id, url }: MediaHost, asked: { method: string; path: string }): MediaOrigin => ({
    ...placeOf(new URL(url)),
    headers: tokens.headersFor(id, asked),
  })

  const anyFar = () => [...known.values()].find(({ id }) => far(id)) ?? null
  /** Of each host that has had a stream; throws where none answers. */
  async function askAll<Answer>(streamId: string, ask: (host: HostRequests) => Promise<Answer>): Promise<Answer[]> {
    const answers = await Promise.allSettled(where.all(streamId).map(async (host) => ask(askable(host))))
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    if (given.length === 0) throw new AppError('SERVICE_UNAVAILABLE')
    return given
  }
  function lacks(): string | null {
    if (problem !== null) return problem
    const isOneOfSeveral = [...known.keys()].some((host) => host !== home)
    return nodeUrl === null && isOneOfSeveral ? 'Livestreams on several nodes need NODE_URL, which is not set' : null
  }
  /** Media of other hosts, shared by all readers here. */
  async function fetchShared(id: string, path: string): Promise<MediaAnswer> {
    const asked = { method: 'GET', path }
    try {
      await look(id, asked)
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return gone
      throw error
    }
    const found = far(where.of(id))
    if (!found) throw new AppError('SERVICE_UNAVAILABLE')
    return media.get(originAt(found, asked), path)
  }

  return {
    addresses: {
      ...addresses,
      rtmp: (key) => {
        const there = where.of(key) === local?.id ? local : known.get(where.of(key))
        return there ? `${there.rtmpUrl}/live/${key}` : addresses.rtmp(key)
      },
    },
    lacks,
    async createStream(stream) {
      const host = local?.id ?? anyFar()?.id ?? ''
      const { streamKey, ...ids } = await askable(host).createStream(stream)
      await hosts.keep({ ...ids, digest: keyDigestOf(streamKey), record: stream.record, host, isOpen: true })
      return { ...ids, streamKey }
    },
    async status(streamIds) {
      const owners = [...new Set(streamIds.map(where.of))]
      const answers = await Promise.allSettled(
        owners.map(async (host) => askable(host).status(streamIds.filter((id) => where.of(id) === host))),
      )
      return new Map(answers.flatMap((answer) => (answer.status === 'fulfilled' ? [...answer.value] : [])))
    },
    async endStream(streamId, isShown = true) {
      await hosts.end(streamId)
      const there = isShown ? [where.of(streamId)] : where.all(streamId)
      await Promise.all(there.map(async (host) => askable(host).endStream(streamId, isShown)))
    },
    async deleteStream(streamId) {
      await hosts.end(streamId)
      await Promise.all(where.all(streamId).map(async (host) => askable(host).deleteStream(streamId)))
    },
    assets: async (streamId) => (await askAll(streamId, (host) => host.assets(streamId))).flat(),
    /** Of a stream that lives here. */
    async publishClock(streamId) {
      if (where.of(streamId) === local?.id) await local.video.publishClock?.(streamId)
    },
    async originOf(id, asked) {
      const path = where.of(id) === local?.id ? null : sharedPath(asked)
      if (path !== null) return answers.get(path, () => fetchShared(id, path))
      await look(id, asked)
      if (where.of(id) === local?.id) return (await local.video.originOf?.(id, asked)) ?? null
      const isOffer = asked.method === 'POST' && !isThere(where.of(id))
      const found = far(where.of(id)) ?? (isOffer && !local ? anyFar() : null)
      return found && originAt(found, asked)
    },
    /** Of the streams that live here: other nodes hear of theirs. */
    subscribe(hear) {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
    async close() {
      closing.abort()
      await following
      const told = own()
      if (told) await hosts.forget(told).catch(() => undefined)
      door?.close()
      media.giveUp(() => true)
      await local?.close()
    },
  }
}

const placeOf = ({ hostname, port }: URL) => ({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) })

function isAt(url: string, host: string, port: number): boolean {
  const at = placeOf(new URL(url))
  return at.host === host && at.port === port
}
