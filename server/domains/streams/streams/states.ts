import { AppError } from '#shared/errors'
import type { StoredStream } from './model.ts'

/** The provider is asked about older streams alone. A stream waits for its first picture for so long. */
export const unprovenMilliseconds = 60_000
const idleMilliseconds = 3_600_000
/** A call over REST counts a viewer for so long. */
export const windowMilliseconds = 300_000
/** The provider ends a stream after the grace; we do if it could not. */
const lateMilliseconds = 2_000

/** Three events of the provider, two of the owner, `shut` of a moderator, and `tick` as time passes. */
export type StreamEvent = 'started' | 'interrupted' | 'stopped' | 'go_live' | 'end' | 'shut' | 'tick'

export type StreamFacts = Pick<
  StoredStream,
  'status' | 'reason' | 'created_at' | 'started_at' | 'ended_at' | 'grace_until' | 'is_published'
>
type Change = Partial<Omit<StreamFacts, 'created_at'>>

/** The change by an event; null if there is none. Throws STREAM_ENDED if an ended stream shall go live. */
export function nextStreamState(
  stream: StreamFacts,
  event: StreamEvent,
  now: number,
  graceMilliseconds: number,
): Change | null {
  const { status, reason, started_at, grace_until, is_published } = stream
  const at = new Date(now)
  const ended = (why: StreamFacts['reason']): Change => ({
    ...{ status: 'ended', reason: why, ended_at: at, grace_until: null },
  })
  if (status === 'ended') {
    if (event === 'go_live') throw new AppError('STREAM_ENDED')
    return null
  }
  switch (event) {
    case 'go_live':
      // A stream without a picture goes live again only with a picture.
      if (status === 'live' || reason === 'no_picture') return null
      return { status: 'live', reason: 'waiting', started_at: at, is_published: false }
    case 'end':
      return ended('ended_by_owner')
    case 'shut':
      return ended('ended_by_moderator')
    case 'started':
      if (status === 'live' && is_published && grace_until === null) return null
      return { status: 'live', reason: 'live', started_at: started_at ?? at, is_published: true, grace_until: null }
    case 'interrupted':
      if (status === 'idle' || !is_published || grace_until !== null) return null
      return { reason: 'interrupted', grace_until: new Date(now + graceMilliseconds) }
    case 'stopped':
      if (status === 'idle' || !is_published) return null
      return ended(grace_until === null ? 'publisher_stopped' : 'connection_lost')
    case 'tick':
      if (status === 'idle')
        return now - stream.created_at.getTime() > idleMilliseconds ? ended('never_published') : null
      if (grace_until !== null) return now > grace_until.getTime() + lateMilliseconds ? ended('connection_lost') : null
      if (is_published || now - (started_at?.getTime() ?? 0) <= unprovenMilliseconds) return null
      return { status: 'idle', reason: 'no_picture', started_at: null }
  }
}

/** Whether a stream is shown as live: from its first picture on. `isSeen` is the provider's answer, or null. */
export function isShownLive(
  { status, started_at, grace_until, is_published }: StreamFacts,
  now: number,
  isSeen: boolean | null,
): boolean {
  if (status !== 'live' || !is_published) return false
  if (now - (started_at?.getTime() ?? 0) < unprovenMilliseconds) return true
  if (grace_until !== null) return now < grace_until.getTime()
  return isSeen ?? true
}
