import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/errors'
import { type HostDoor, type LocalHost, openDoor } from './host-door.ts'
import { type HostRequests, requestsTo } from './host-requests.ts'
import { hostTokens } from './host-tokens.ts'
import { keyDigestOf, type LocationHost, streamLocations } from './location.ts'
import type {
  MediaAnswer,
  MediaHost,
  MediaHosts,
  MediaOrigin,
  MediaRequest,
  Video,
  VideoAddresses,
  VideoEvent,
} from './port.ts'
import { remoteMedia } from './remote-media.ts'
import { sharedAnswers, sharedPath } from './shared-answers.ts'

export interface HostsOptions {
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
