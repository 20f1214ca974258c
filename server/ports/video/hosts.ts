import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#shared/errors'
import { farMedia } from './far-media.ts'
import { type Asked, askHost } from './host-asks.ts'
import { type HostDoor, type LocalHost, openDoor } from './host-door.ts'
import { hostTokens } from './host-tokens.ts'
import type { MediaHost, MediaHosts, MediaOrigin, Video, VideoAddresses, VideoEvent } from './port.ts'
import { sharedAnswers, sharedPath } from './shared-answers.ts'

export interface HostsOptions {
  /** What the ids of streams begin with that are kept where this process may keep them; others may share the place. */
  home: string
  /** Null while another process has what this one would keep its streams in. */
  openLocal(): Promise<LocalHost | null>
  hosts: MediaHosts
  /** Where other nodes reach this one; null where it is known to processes of this machine alone. */
  nodeUrl: URL | null
  /** Where it listens if that is no address of this machine, as in a container; null where that is a mistake. */
  otherwiseAt: string | null
  secrets: readonly Uint8Array[]
  now(): number
  addresses: VideoAddresses
}

const beatMilliseconds = 2_000
const loopback = '127.0.0.1'
const hostOf = (id: string): string => /^([0-9a-f]{8})-/.exec(id)?.[1] ?? ''

/** Livestreams of several nodes: each stream lives on the host that its ids name, and every node asks that one. */
export async function hostedVideo(
  options: HostsOptions,
): Promise<Video & { lacks(): string | null; close(): Promise<void> }> {
  const { home, openLocal, hosts, nodeUrl, otherwiseAt, addresses } = options
  const tokens = hostTokens(options.secrets, options.now)
  const hearers = new Set<(event: VideoEvent) => void>()
  const closing = new AbortController()
  const [answers, media] = [sharedAnswers(), farMedia()]
  let local: LocalHost | null = null
  let door: HostDoor | null = null
  let problem: string | null = null
  let known: ReadonlyMap<string, MediaHost> = new Map()

  function own(): MediaHost | null {
    if (!local || !door) return null
    const url = `http://${nodeUrl?.hostname ?? loopback}:${door.port}`
    return { id: local.id, url, isNamed: nodeUrl !== null, rtmpUrl: local.rtmpUrl }
  }

  async function beat(): Promise<void> {
    if (!local) {
      local = await openLocal()
      local?.video.subscribe((event) => {
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
      door = await openDoor(host, tokens, [at.host, ...(otherwiseAt ? [otherwiseAt] : [])], at.port)
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
  const askable = (host: string): Asked => {
    if (host === local?.id) return local.video
    const found = far(host)
    if (!found) throw new AppError('SERVICE_UNAVAILABLE')
    return askHost(found, tokens)
  }
  const originAt = ({ id, url }: MediaHost, asked: { method: string; path: string }): MediaOrigin => ({
    ...placeOf(new URL(url)),
    headers: tokens.headersFor(id, asked),
  })

  return {
    addresses: {
      ...addresses,
      rtmp: (key) => {
        const there = hostOf(key) === local?.id ? local : known.get(hostOf(key))
        return there ? `${there.rtmpUrl}/live/${key}` : addresses.rtmp(key)
      },
    },
    lacks() {
      if (problem !== null) return problem
      const isOneOfSeveral = [...known.keys()].some((host) => host !== home)
      return nodeUrl === null && isOneOfSeveral ? 'Livestreams on several nodes need NODE_URL, which is not set' : null
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
    async originOf(id, asked) {
      if (hostOf(id) === local?.id) return (await local.video.originOf?.(id, asked)) ?? null
      const found = far(hostOf(id))
      if (!found) return null
      const path = sharedPath(asked)
      if (path === null) return originAt(found, asked)
      return answers.get(path, () => media.get(originAt(found, { method: 'GET', path }), path))
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
