import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { type LiveNow, type StreamChatView, type StreamHealth, type StreamView, streamsOf } from '#client/sdk/streams'
import type { StreamState } from '#shared/api/streams/stream-records'
import { useClient } from '../connection/client.ts'
import { lengthOf, secondsUntil } from '../kit/format.ts'
import type { ProblemWords } from '../kit/problem.ts'
import { locale } from '../texts/language.ts'
import { streamTexts as t } from '../texts/streams.ts'

interface Watched<State> {
  readonly state: State
  subscribe(listener: () => void): () => void
  close(): void
}

function useWatched<State>(open: () => Watched<State>): State | null {
  const [watched, setWatched] = useState<Watched<State> | null>(null)
  useEffect(() => {
    const opened = open()
    setWatched(opened)
    return () => opened.close()
  }, [open])
  return useSyncExternalStore(
    useMemo(() => (listener: () => void) => watched?.subscribe(listener) ?? (() => {}), [watched]),
    () => watched?.state ?? null,
  )
}

/** A stream as it stands; who shows it is counted as a viewer. */
export function useStream(id: string): StreamView | null {
  const client = useClient()
  return useWatched(useMemo(() => () => streamsOf(client).open(id), [client, id]))
}

/** The newest messages of a stream, for who is not in its chat. */
export function useStreamChat(id: string): StreamChatView | null {
  const client = useClient()
  return useWatched(useMemo(() => () => streamsOf(client).readChat(id), [client, id]))
}

export function useLiveNow(): LiveNow['state'] | null {
  const client = useClient()
  return useWatched(useMemo(() => () => streamsOf(client).liveNow(), [client]))
}

interface Words {
  title: string
  text: string
}

/** Why a stream ended; a reason of another end has no text. */
const ends: Partial<Record<StreamState['reason'], string>> = t.ends

/** What is said in the place of the picture; null where nothing is to be said. */
export function placeWords(state: StreamState, hasPicture: boolean, now: number): Words | null {
  const { status, reason, grace_until } = state
  if (status === 'ended') return { title: t.place.ended, text: ends[reason] ?? '' }
  if (reason === 'interrupted') {
    const left = Math.ceil(secondsUntil(grace_until, now))
    const text = left > 0 ? t.place.awayLeft({ time: lengthOf(left) }) : t.place.awayOver
    return { title: t.place.away, text }
  }
  if (reason === 'no_picture') return { title: t.place.none, text: t.place.noneHint }
  if (reason === 'waiting') return { title: t.place.waiting, text: t.place.waitingHint }
  return hasPicture ? null : { title: t.place.loading, text: t.place.loadingHint }
}

type BadgeLook = 'live' | 'warm' | ''
/** The state in a word or two. */
export function badgeOf({ status, reason, is_live }: StreamState): { text: string; look: BadgeLook } {
  if (status === 'ended') return { text: t.badge.ended, look: '' }
  if (reason === 'interrupted') return { text: t.badge.away, look: 'warm' }
  if (reason === 'live' || is_live) return { text: t.badge.live, look: 'live' }
  return { text: t.badge.notYet, look: '' }
}

const standings: Partial<Record<StreamState['reason'], string>> = t.standings

/** How a stream stands, why, and whether its picture arrives, for its streamer. */
export function ownWords(state: StreamState, health: StreamHealth | null, now: number): string {
  const words = [badgeOf(state).text, standings[state.reason], health && healthWords(health, now)]
  return words.flatMap((word) => (word ? [`${word}.`] : [])).join(' ')
}

function healthWords({ is_published, last_ingest_at }: StreamHealth, now: number): string {
  if (is_published) return t.health.arriving
  if (last_ingest_at === null) return t.health.none
  return t.health.noneFor({ time: lengthOf(Math.max(1, (now - Date.parse(last_ingest_at)) / 1_000)) })
}

export const streamProblems: ProblemWords = t.problems

/** By how much the picture is later than its camera. */
export const behindText = (latency: number): string =>
  t.behind({
    seconds: Math.max(0.1, latency).toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
  })
