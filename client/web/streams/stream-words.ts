import type { StreamHealth } from '#client/sdk/streams'
import type { StreamState } from '#shared/api/stream-records'
import { lengthOf, secondsUntil } from '../kit/format.ts'
import type { ProblemWords } from '../kit/problem.ts'

export interface Words {
  title: string
  text: string
}

const ends: Partial<Record<StreamState['reason'], string>> = {
  ended_by_owner: 'Its streamer ended it.',
  ended_by_moderator: 'A moderator ended it.',
  publisher_stopped: 'Its streamer stopped the picture.',
  connection_lost: 'The picture was lost and did not come back.',
  never_published: 'It never had a picture.',
}

/** What is said in the place of the picture; null where nothing is to be said. */
export function placeWords(state: StreamState, hasPicture: boolean, now: number): Words | null {
  const { status, reason, grace_until } = state
  if (status === 'ended') return { title: 'The stream has ended', text: ends[reason] ?? '' }
  if (reason === 'interrupted') {
    const left = Math.ceil(secondsUntil(grace_until, now))
    const text = left > 0 ? `It is waited for another ${lengthOf(left)}.` : 'The stream is about to end.'
    return { title: 'The picture is away', text }
  }
  if (reason === 'no_picture') return { title: 'No picture came', text: 'The stream can still begin.' }
  if (reason === 'waiting') return { title: 'Waiting for the picture', text: 'It is shown as soon as it comes.' }
  return hasPicture ? null : { title: 'Loading the picture', text: 'The stream is live.' }
}

export type BadgeLook = 'live' | 'warm' | ''
/** The state in a word or two. */
export function badgeOf({ status, reason, is_live }: StreamState): { text: string; look: BadgeLook } {
  if (status === 'ended') return { text: 'Ended', look: '' }
  if (reason === 'interrupted') return { text: 'Picture away', look: 'warm' }
  if (reason === 'live' || is_live) return { text: 'Live', look: 'live' }
  return { text: 'Not live yet', look: '' }
}

const standings: Partial<Record<StreamState['reason'], string>> = {
  waiting: 'Waiting for your picture',
  live: 'Everybody can watch',
  interrupted: 'Your picture is away',
  no_picture: 'No picture came, and the stream can still begin',
}

/** How a stream stands, why, and whether its picture arrives, for its streamer. */
export function ownWords(state: StreamState, health: StreamHealth | null, now: number): string {
  const words = [badgeOf(state).text, standings[state.reason], health && healthWords(health, now)]
  return words.flatMap((word) => (word ? [`${word}.`] : [])).join(' ')
}

function healthWords({ is_published, last_ingest_at }: StreamHealth, now: number): string {
  if (is_published) return 'Picture arriving'
  if (last_ingest_at === null) return 'No picture yet'
  return `No picture for ${lengthOf(Math.max(1, (now - Date.parse(last_ingest_at)) / 1_000))}`
}

export const streamProblems: ProblemWords = {
  STREAM_NOT_FOUND: 'There is no such stream. It may have been deleted.',
  STREAM_ENDED: 'This stream has ended. Start a new one.',
  BETA_ACCESS_REQUIRED: 'Only people whom the operators have let in may record on this server.',
  LIVEPEER_ERROR: 'The video service did not answer. Try again in a moment.',
}
