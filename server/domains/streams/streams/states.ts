import { AppError } from '#shared/errors'
import type { StoredStream } from './model.ts'

/** So long a stream is shown as live without asking the provider, and waits for its first picture. */
export const unprovenMilliseconds = 60_000
/** A stream that was not published for so long after it was made is ended. */
export const idleMilliseconds = 3_600_000
/** So long somebody who asks over REST alone is counted. */
export const windowMilliseconds = 300_000
/** The provider ends a stream after the grace; where it did not, as it is gone, we do. */
const lateMilliseconds = 2_000

/** What happens to a stream: the first three are of the provider, two are of its owner, `shut` is of who moderates, and `tick` is that time has passed. */
export type Happening = 'started' | 'interrupted' | 'stopped' | 'go_live' | 'end' | 'shut' | 'tick'

export type Standing = Pick<
  StoredStream,
  'status' | 'reason' | 'created_at' | 'started_at' | 'ended_at' | 'grace_until' | 'is_published'
>
type Change = Partial<Omit<Standing, 'created_at'>>

/** What changes, or null where nothing does. Throws STREAM_ENDED where somebody wants an ended stream live. */
export function next(stream: Standing, happening: Happening, now: number, graceMilliseconds: number): Change | null {
  const { status, reason, started_at, grace_until, is_published } = stream
  const at = new Date(now)
  const ended = (why: Standing['reason']): Change => ({
    ...{ status: 'ended', reason: why, ended_at: at, grace_until: null },
  })
  if (status === 'ended') {
    if (happening === 'go_live') throw new AppError('STREAM_ENDED')
    return null
  }
  switch (happening) {
    case 'go_live':
      // Whose picture did not come is live with its picture alone.
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

/** Whether it is shown as live. `isSeen` is what the provider says of it, null where it does not answer. */
export function isShownLive(
  { status, started_at, grace_until, is_published }: Standing,
  now: number,
  isSeen: boolean | null,
): boolean {
  if (status !== 'live') return false
  if (now - (started_at?.getTime() ?? 0) < unprovenMilliseconds) return true
  if (grace_until !== null) return now < grace_until.getTime()
  return isSeen ?? is_published
}
