import type { Clock } from './clock.ts'
import { fragment, initSegment } from './fmp4.ts'
import {
  createPackager,
  durationOf,
  type Lengths,
  type ListedPart,
  type ListedSegment,
  longestSegmentSeconds,
  nextPart,
  type Part,
  renderPlaylist,
} from './packager.ts'
import { type AudioFrame, type Tracks, type VideoFrame, videoTimescale } from './tracks.ts'

const jumpSeconds = 10
const backSeconds = 1
/** A frame that is further ahead of the other track and of real time has a wrong timestamp. */
const aheadSeconds = 1
const usualSeconds = 1 / 30

interface Timeline {
  /** With times from 0 at the first frame of either track, each later than the one before. */
  video(frame: VideoFrame): VideoFrame
  /** Null where it would be heard before what was. */
  audio(frame: AudioFrame): AudioFrame | null
}

/** The timeline of a publisher with any clock: sound is gapless within two frames, and tracks continue over jumps. */
function createTimeline(sampleRate: () => number, milliseconds: () => number): Timeline {
  let origin: number | null = null
  /** Where the beginning is, if the clock has jumped. */
  let moved: number | null = null
  /** When it began, as far as its frames have come in time. */
  let began = 0
  let lastVideo = -1
  let nextAudio: number | null = null
  /** In seconds, when each goes on. */
  const last: { video: number | null; audio: number | null } = { video: null, audio: null }

  /** Seconds since the beginning; a jump moves the beginning. */
  function place(seconds: number, mine: number | null, other: number | null): number {
    const now = milliseconds()
    if (origin === null) [origin, began] = [seconds, now]
    const before = mine ?? other
    if (before === null) return seconds - origin
    // The tracks of some begin apart.
    const most = mine === null ? jumpSeconds : aheadSeconds
    const latest = Math.max(before, other ?? 0)
    const passed = Math.min((now - began) / 1000, latest + jumpSeconds - aheadSeconds)
    const fits = (from: number) => {
      const at = seconds - from
      return at - Math.max(latest, passed) < most && (mine === null || mine - at < backSeconds)
    }
    if (!fits(origin)) {
      if (moved === null || !fits(moved)) {
        moved = seconds - before - usualSeconds
        return before + usualSeconds
      }
      ;[origin, began] = [moved, now - (seconds - moved) * 1000]
    }
    if (mine !== null) moved = null
    began = Math.min(began, now - (seconds - origin) * 1000)
    return seconds - origin
  }

  return {
    video(frame) {
      const at = Math.round(place(frame.time / videoTimescale, last.video, last.audio) * videoTimescale)
      lastVideo = Math.max(at, lastVideo + 1)
      last.video = lastVideo / videoTimescale
      return { ...frame, time: lastVideo }
    },
    audio(frame) {
      const rate = sampleRate()
      const at = Math.round(place(frame.time / rate, last.audio, last.video) * rate)
      if (at < 0 && nextAudio === null) return null
      const expected = nextAudio ?? at
      const isNear = Math.abs(at - expected) <= 2 * frame.duration
      if (!isNear && at < expected) return null
      const time = isNear ? expected : at
      nextAudio = time + frame.duration
      last.audio = nextAudio / rate
      return { ...frame, time }
    },
  }
}

interface StoredPart extends ListedPart {
  data: Buffer
}

interface Segment extends ListedSegment {
  parts: StoredPart[]
  whole: Buffer | null
}

export interface LiveOptions extends Lengths {
  clock: Clock
  /** The time of day, in milliseconds since 1970. */
  wall(): number
  /** Whether earlier parts were announced: no name of them is used again. */
  isAgain?: boolean
}

/** What one publisher gives, from when it begins until it ends. */
export interface Ingest {
  configure(tracks: Partial<Tracks>): void
  video(frame: VideoFrame): void
  audio(frame: AudioFrame): void
  end(): void
}

export interface Fragment extends Part {
  init: Buffer
  data: Buffer
}

type Playlist = { status: 200; text: string } | { status: 400 | 404 | 503 }

export interface Live {
  /** Each publisher after the first goes on where the one before ended, with a discontinuity. */
  begin(told?: (fragment: Fragment) => void): Ingest
  /** Resolves when the requested segment or part exists. */
  playlist(sequence?: number, part?: number): Promise<Playlist>
  file(name: string): Promise<Buffer | null>
  /** The end is announced after the last part, as players may stop before it otherwise. */
  finish(): void
  close(): void
}

const listed = 6
/** Announced durations are rounded up, as key frames come late at times. */
const [roundedSeconds, slackSeconds] = [0.49, 0.1]
/** Parts of one publisher follow one another; beyond that there was nothing in between. */
const gapSeconds = 0.01
/** Kept for readers of an older playlist. */
const keptBeside = 3
/** A picture that was shown for long does not raise the delay of all. */
const longestPartTarget = 1
const mostBytes = 64 * 2 ** 20
const mostWaiting = 20_000
const firstMilliseconds = 8_000
const endMilliseconds = 2_500

export function createLive(options: LiveOptions): Live {
  const { clock, partMs, segmentMs } = options
  const segments: Segment[] = []
  const inits: { number: number; data: Buffer }[] = []
  const waiting = new Set<() => void>()
  /** Begins with the second, so that a server that starts anew does not go back. */
  let sequence = Math.floor(options.wall() / 1000)
  let fragments = 0
  let initNumber = options.isAgain ? sequence : 0
  /** Both are fixed from the first whole segment on, for all publishers. Nothing is announced before. */
  let targetDuration: number | null = null
  let partTarget = partMs / 1000
  let isOver = false
  let isClosed = false
  let rendered: string | null = null
  let endSoon: (() => void) | null = null

  const shown = () => segments.slice(-listed)
  const holdMilliseconds = () => 3_000 * (targetDuration ?? longestSegmentSeconds)
  const isThere = (wanted: number, part?: number) => {
    const last = segments.at(-1)
    if (!last || last.sequence < wanted) return false
    return last.sequence > wanted || last.done || (part !== undefined && last.parts.length > part)
  }

  function changed(): void {
    rendered = null
    for (const look of [...waiting]) look()
  }

  /** Until it holds, or the time is over; says which. */
  function until(holds: () => boolean, milliseconds: number): Promise<boolean> {
    if (holds()) return Promise.resolve(true)
    if (waiting.size >= mostWaiting) return Promise.resolve(false)
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        waiting.delete(look)
        resolve(holds())
      }
      const look = () => {
        if (holds()) done()
      }
      const cancel = clock.after(milliseconds, done)
      waiting.add(look)
    })
  }

  function add(part: Part, data: Buffer, isNew: boolean, isFirst: boolean, at: Date): void {
    const last = segments.at(-1)
    if (!last || last.done || isFirst || part.beginsSegment) {
      if (last) finishSegment(last)
      const discontinuity = isNew && last !== undefined
      segments.push({ sequence: sequence++, init: initNumber, discontinuity, at, parts: [], done: false, whole: null })
    }
    const current = segments.at(-1)
    if (!current) return
    current.parts.push({ data, duration: part.duration, independent: part.independent })
    if (part.endsSegment) finishSegment(current)
    if (targetDuration === null) {
      partTarget = Math.max(partTarget, Math.min(longestPartTarget, Math.ceil(part.duration * 1000) / 1000))
      const [whole] = segments
      if (whole?.done)
        targetDuration = Math.max(1, Math.round(segmentMs / 1000), Math.ceil(durationOf(whole) - slackSeconds))
    }
    drop()
    changed()
  }

  function drop(): void {
    const bytes = () =>
      segments.reduce((sum, { parts }) => sum + parts.reduce((all, { data }) => all + data.length, 0), 0)
    while (segments.length > listed + keptBeside || (segments.length > 3 && bytes() > mostBytes)) segments.shift()
    const [oldest] = segments
    while (oldest && inits.length > 1 && (inits[0]?.number ?? 0) < oldest.init) inits.shift()
  }

  function text(): string {
    const listedNow = shown()
    const [first] = listedNow
    rendered ??= renderPlaylist({
      segments: listedNow,
      discontinuitySequence: (first?.init ?? 1) - 1,
      targetDuration: targetDuration ?? longestSegmentSeconds,
      partTarget,
      isOver,
    })
    return rendered
  }

  return {
    begin(told) {
      endSoon?.()
      ;[endSoon, isOver] = [null, false]
      let tracks: Tracks | null = null
      let init: Buffer = Buffer.alloc(0)
      let sampleRate = 1
      let startedAt: number | null = null
      let endedAt = 0
      const longest = () => Math.min(longestSegmentSeconds, (targetDuration ?? longestSegmentSeconds) + roundedSeconds)
      const packager = createPackager(options, longest, (part) => {
        const isSame = tracks?.video === part.tracks.video && tracks.audio === part.tracks.audio
        const isNew = !isSame || part.start > endedAt + gapSeconds
        endedAt = part.start + part.duration
        startedAt ??= options.wall() - (part.start + part.duration) * 1000
        if (isNew) {
          tracks = part.tracks
          init = initSegment(tracks)
          inits.push({ number: ++initNumber, data: init })
        }
        const audio = part.audio.map((frame) => ({ ...frame, offset: 0, key: true }))
        const data = fragment(++fragments, { video: part.video, audio })
        add(part, data, isNew, isNew, new Date(startedAt + part.start * 1000))
        told?.({ ...part, init, data })
      })
      const timeline = createTimeline(
        () => sampleRate,
        () => clock.now(),
      )
      return {
        configure(given) {
          sampleRate = given.audio?.sampleRate ?? sampleRate
          packager.configure(given)
        },
        video: (frame) => packager.video(timeline.video(frame)),
        audio(frame) {
          const placed = timeline.audio(frame)
          if (placed) packager.audio(placed)
        },
        end: () => packager.end(),
      }
    },

    async playlist(wanted, part) {
      const next = nextPart(segments)
      if (wanted !== undefined && next && wanted > next.sequence + 2) return { status: 400 }
      // Of parts alone players make nothing.
      const hasSegment = () => targetDuration !== null
      if (wanted === undefined) {
        return (await until(() => isClosed || hasSegment(), firstMilliseconds)) && !isClosed
          ? { status: 200, text: text() }
          : { status: 404 }
      }
      const isFound = await until(() => (isThere(wanted, part) && hasSegment()) || isOver, holdMilliseconds())
      if (isClosed) return { status: 404 }
      return isFound ? { status: 200, text: text() } : { status: 503 }
    },

    async file(name) {
      const init = /^init(\d{1,15})\.mp4$/.exec(name)
      if (init) return inits.find(({ number }) => number === Number(init[1]))?.data ?? null
      const [, number, of] = /^(\d{1,15})(?:\.(\d{1,5}))?\.m4s$/.exec(name) ?? []
      if (number === undefined) return null
      const [wanted, part] = [Number(number), of === undefined ? undefined : Number(of)]
      const next = nextPart(segments)
      if (part !== undefined && next?.sequence === wanted && next.part === part)
        await until(() => isThere(wanted, part) || isOver, holdMilliseconds())
      const segment = isClosed ? undefined : segments.find((one) => one.sequence === wanted)
      if (part !== undefined) return segment?.parts[part]?.data ?? null
      return segment?.whole ?? null
    },

    finish() {
      endSoon ??= clock.after(endMilliseconds, () => {
        isOver = true
        changed()
      })
    },

    close() {
      endSoon?.()
      ;[isOver, isClosed] = [true, true]
      changed()
      waiting.clear()
    },
  }
}

/** Its parts become places within the whole, so that nothing is held twice. */
function finishSegment(segment: Segment): void {
  if (segment.done) return
  const whole = Buffer.concat(segment.parts.map(({ data }) => data))
  let at = 0
  for (const part of segment.parts) {
    part.data = whole.subarray(at, at + part.data.length)
    at += part.data.length
  }
  ;[segment.whole, segment.done] = [whole, true]
}
