import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'
import type { HeldStream, MediaHosts } from './port.ts'

/** The host of this process, for moved streams. */
export interface LocationHost {
  id: string
  /** Continues a stream of another host; one that it has stays unchanged. */
  adopt(stream: HeldStream): Promise<void>
  endStream(streamId: string): Promise<void>
}

/** The locations of streams: the host in their ids, or the host that continued them. */
export interface StreamLocations {
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
