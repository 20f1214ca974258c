import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'
import type { HeldStream, MediaHosts } from './port.ts'

/** The host of this process, as far as streams that have moved are concerned. */
export interface LocationHost {
  id: string
  /** Goes on with a stream of another host; what it has already stays as it is. */
  adopt(stream: HeldStream): Promise<void>
  endStream(streamId: string): Promise<void>
}

/** Where streams are: at the host that their ids name, or where they went on when that was away. */
export interface StreamLocations {
  /** The host of a stream, a playback, a key, a session or a recording, as far as it was told; empty where the name names none. */
  of(name: string): string
  /** Where a stream has been; the host it is at now comes first. */
  all(streamId: string): string[]
  /** Looks which streams have moved: goes on with those that came here, and gives up those that left. */
  refresh(here: LocationHost | null): Promise<void>
  /**
   * Looks for what is not at a host that is there. With the key of a stream whose host is away, that stream goes on here. Throws
   * NOT_FOUND where no open stream has the name.
   */
  look(name: string, isThere: (host: string) => boolean, here: LocationHost | null): Promise<void>
}

export const keyDigestOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const homeOf = (name: string): string => /^([0-9a-f]{8})-/.exec(name)?.[1] ?? ''

export function streamLocations(hosts: Pick<MediaHosts, 'moved' | 'find' | 'move'>): StreamLocations {
  let moved: ReadonlyMap<string, string> = new Map()
  /** What the host of this process has settled of each. */
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
