import { AppError } from '#shared/errors'
import type { MediaAnswer, MediaRequest } from './port.ts'

export interface SharedLimits {
  /** Parts and segments never change; they are kept for so long, and so many bytes of them. */
  mediaMilliseconds: number
  mediaBytes: number
  /** Playlists, and what is not there, for those who ask a moment later. */
  briefMilliseconds: number
  briefBytes: number
  /** So many different answers are asked for at a time. */
  mostAsked: number
  /** What is kept is shown for so long after its host has shown anything of that stream: one that is taken down is gone from here as well. */
  shownMilliseconds: number
}

/** Answers that all who want them at the same node share, so that each is asked for once. */
export interface SharedAnswers {
  /** Rejects as `ask` does, for all who wait; what has failed is kept for nobody. SERVICE_UNAVAILABLE where too much is asked for. */
  get(key: string, ask: () => Promise<MediaAnswer>): Promise<MediaAnswer>
}

const usual: SharedLimits = {
  mediaMilliseconds: 60_000,
  mediaBytes: 128 * 2 ** 20,
  briefMilliseconds: 500,
  briefBytes: 8 * 2 ** 20,
  mostAsked: 1_000,
  shownMilliseconds: 2_000,
}

const playlist = /^\/hls\/[\w-]{1,64}\/index\.m3u8$/
const media = /^\/hls\/[\w-]{1,64}\/[\w.-]{1,64}$/

/** The one path of all requests with the same answer, without what it does not depend on; null where answers are not shared. */
export function sharedPath({ method, path }: MediaRequest): string | null {
  if (method !== 'GET' && method !== 'HEAD') return null
  const { pathname, searchParams } = new URL(path, 'http://media.local')
  if (!media.test(pathname)) return null
  if (!playlist.test(pathname)) return pathname
  const asked = ['_HLS_msn', '_HLS_part'].flatMap((name) => {
    const value = searchParams.get(name)
    return value === null ? [] : [{ name, value }]
  })
  if (asked.some(({ value }) => !/^\d{1,15}$/.test(value))) return null
  const query = asked.map(({ name, value }) => `${name}=${Number(value)}`).join('&')
  return query === '' ? pathname : `${pathname}?${query}`
}

export function sharedAnswers(limits: SharedLimits = usual): SharedAnswers {
  const lasting = store(limits.mediaMilliseconds, limits.mediaBytes)
  const brief = store(limits.briefMilliseconds, limits.briefBytes)
  const asked = new Map<string, Promise<MediaAnswer>>()
  /** Until when each stream is shown by its host, as far as is known. */
  const shown = new Map<string, number>()

  async function askFor(key: string, ask: () => Promise<MediaAnswer>): Promise<MediaAnswer> {
    try {
      const answer = await ask()
      const { status, headers } = answer
      if (status === 200) keepShown(streamOf(key))
      else if (status === 404 && playlist.test(key.split('?')[0] ?? '')) shown.delete(streamOf(key))
      if (status === 200 && headers['cache-control']?.includes('immutable')) lasting.set(key, answer)
      else if (status === 200 || status === 404) brief.set(key, answer)
      return answer
    } finally {
      asked.delete(key)
    }
  }

  function keepShown(stream: string): void {
    const now = performance.now()
    shown.delete(stream)
    shown.set(stream, now + limits.shownMilliseconds)
    for (const [one, until] of shown) {
      if (until > now) return
      shown.delete(one)
    }
  }
  const isShown = (key: string) => (shown.get(streamOf(key)) ?? 0) > performance.now()

  return {
    async get(key, ask) {
      const there = (isShown(key) ? lasting.get(key) : undefined) ?? brief.get(key) ?? asked.get(key)
      if (there) return there
      if (asked.size >= limits.mostAsked) throw new AppError('SERVICE_UNAVAILABLE')
      const answer = askFor(key, ask)
      asked.set(key, answer)
      return answer
    },
  }
}

const streamOf = (key: string): string => key.split('/')[2] ?? ''

/** What it costs beside its body. */
const costBytes = 1_024

/** The oldest go first, as all are kept equally long. */
function store(milliseconds: number, mostBytes: number) {
  const kept = new Map<string, { answer: MediaAnswer; until: number }>()
  let bytes = 0
  const costOf = ({ body }: MediaAnswer) => body.length + costBytes
  function trim(): void {
    const now = performance.now()
    for (const [key, { answer, until }] of kept) {
      if (until > now && bytes <= mostBytes) return
      kept.delete(key)
      bytes -= costOf(answer)
    }
  }
  return {
    get(key: string): MediaAnswer | undefined {
      trim()
      return kept.get(key)?.answer
    },
    set(key: string, answer: MediaAnswer): void {
      const before = kept.get(key)
      if (before) bytes -= costOf(before.answer)
      kept.delete(key)
      kept.set(key, { answer, until: performance.now() + milliseconds })
      bytes += costOf(answer)
      trim()
    },
  }
}
