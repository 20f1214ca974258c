import { AppError } from '#shared/errors'
import type { MediaAnswer, MediaRequest } from './port.ts'

interface SharedLimits {
  /** Parts and segments never change; limits of their cache. */
  mediaMilliseconds: number
  mediaBytes: number
  /** The cache of playlists and missing files. */
  briefMilliseconds: number
  briefBytes: number
  /** Simultaneous requests. */
  mostAsked: number
  /** Cached media expire so long after their host last showed the stream, so that a taken-down one ends here too. */
  shownMilliseconds: number
}

/** Answers that are fetched once for all readers of a node. */
interface SharedAnswers {
  /** Rejects as `ask` does; failures are not cached. Throws SERVICE_UNAVAILABLE above the limit. */
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

/** The cache key of a request; null for unshared answers. */
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
  /** Until when each stream is known to be shown. */
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

/** The cost of an entry beside its body. */
const costBytes = 1_024

/** The oldest entries go first. */
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
