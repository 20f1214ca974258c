import { type AudioFrame, type Sample, sameTrack, type Tracks, type VideoFrame, videoTimescale } from './tracks.ts'

export interface Part {
  tracks: Tracks
  video: readonly Sample[]
  audio: readonly AudioFrame[]
  /** Seconds since the publisher began. */
  start: number
  duration: number
  /** Whether it begins with a key frame. */
  independent: boolean
  beginsSegment: boolean
  endsSegment: boolean
}

interface Packager {
  configure(tracks: Partial<Tracks>): void
  video(frame: VideoFrame): void
  audio(frame: AudioFrame): void
  end(): void
}

export interface Lengths {
  partMs: number
  segmentMs: number
}

/** Of a playlist whose first segment is not there yet. */
export const longestSegmentSeconds = 10
/** Key frames come a little early at times. */
const slackSeconds = 0.1
const waitForVideoSeconds = 1
const longestFill = 0.5
const most = { partBytes: 8 * 2 ** 20, segmentBytes: 32 * 2 ** 20, waitingSounds: 1000 }

/** Cuts media into parts and segments at timely key frames. Without pictures sound cuts them; none exceeds `longest`. */
export function createPackager(
  { partMs, segmentMs }: Lengths,
  longest: () => number,
  emit: (part: Part) => void,
): Packager {
  let tracks: Tracks | null = null
  let wanted: Tracks = { video: null, audio: null }
  /** The first picture: decode time, offset of display, and display time in seconds, where sound begins too. */
  let begun = { time: 0, offset: 0, seconds: 0 }
  let held: VideoFrame | null = null
  let usual = videoTimescale / 30
  let video: Sample[] = []
  let audio: AudioFrame[] = []
  let lastSound: AudioFrame | null = null
  let bytes = 0
  let segmentBytes = 0
  let partStart = 0
  let segmentStart = 0
  /** Whether the segment begins with a key frame; one that does not is ended by the next. */
  let beginsWithKey = true

  const rate = () => wanted.audio?.sampleRate ?? 1
  const soundSince = (frame: AudioFrame) => ({ ...frame, time: frame.time - Math.round(begun.seconds * rate()) })

  function begin(at: typeof begun): void {
    begun = at
    tracks = wanted
    audio = audio.map(soundSince).filter(({ time }) => time >= 0)
  }

  /** Sound from after the end of a segment belongs to the next. */
  function close(end: number, endsSegment: boolean, isLast = false): void {
    const isLater = ({ time }: AudioFrame) => endsSegment && !isLast && time >= end * rate()
    const later = audio.filter(isLater)
    audio = audio.filter((frame) => !isLater(frame))
    if (tracks && end > partStart && (video.length > 0 || audio.length > 0)) {
      const independent = tracks.video === null || video[0]?.key === true
      const beginsSegment = partStart === segmentStart
      if (beginsSegment) beginsWithKey = independent
      emit({
        tracks,
        video,
        audio,
        start: partStart,
        duration: end - partStart,
        independent,
        beginsSegment,
        endsSegment,
      })
    }
    segmentBytes = endsSegment ? 0 : segmentBytes + bytes
    lastSound = audio.at(-1) ?? lastSound
    bytes = later.reduce((sum, { data }) => sum + data.length, 0)
    ;[video, audio, partStart] = [[], later, end]
    if (endsSegment) [segmentStart, beginsWithKey] = [end, true]
  }

  const isTooLong = (seconds: number) => seconds > longest() + 0.001

  /** Ends the part before what comes at this time, where it must end. */
  function cut(at: number, isKey: boolean, usualDuration: number): void {
    const length = at - segmentStart
    const isLong = isTooLong(length + usualDuration) || segmentBytes + bytes > most.segmentBytes
    if (isLong || (isKey && (length >= segmentMs / 1000 - slackSeconds || !beginsWithKey))) close(at, true)
    else if (at + usualDuration - partStart > partMs / 1000 + 0.001 || bytes > most.partBytes) close(at, false)
  }

  /** The picture whose duration is known now, as the next one is there. Returns when it ends. */
  function release(until: number | null): number | null {
    if (!held) return null
    const atMost = Math.round((segmentStart + longest()) * videoTimescale) - held.time
    usual = until === null ? Math.max(1, Math.min(usual, atMost)) : until - held.time
    video.push({ ...held, duration: usual })
    bytes += held.data.length
    const end = (held.time + usual) / videoTimescale
    held = null
    return end
  }

  /** A still picture begins a new segment if the old one gets too long. It lasts one segment at most. */
  function stoodUntil(at: number): void {
    if (!held) return
    const from = held.time / videoTimescale
    if (isTooLong(at - segmentStart) && from > segmentStart) close(from, true)
    if (!isTooLong(at - from)) return
    showUntil(from + longest())
    ;[partStart, segmentStart] = [at, at]
  }

  /** Where no picture comes, segments go on with the sound. */
  function soundAlone(now: number): void {
    const from = (held?.time ?? 0) / videoTimescale
    if (from > segmentStart) close(from, true)
    if (!isTooLong(now - waitForVideoSeconds - segmentStart)) return
    showUntil(Math.min(from, segmentStart) + longest())
    const later = audio
    audio = []
    for (const frame of later) hear(frame)
  }

  /** Ends the segment with the picture that is shown. */
  function showUntil(end: number): void {
    const before = usual
    release(Math.round(end * videoTimescale))
    usual = before
    close(Math.max(end, partStart), true)
  }

  function hear(frame: AudioFrame): void {
    if (held === null) cut(frame.time / rate(), tracks?.video === null, frame.duration / rate())
    if (audio.length < most.waitingSounds) audio.push(frame)
    bytes += frame.data.length
  }

  /** Fills a track to the end. Players stop at a gap in one track, and miss the end of the livestream. */
  function fill(end: number): void {
    const last = audio.at(-1) ?? lastSound
    if (!last) return
    const missing = Math.round(end * rate()) - last.time - last.duration
    if (missing <= 0 || missing > longestFill * rate()) return
    if (audio.length > 0) audio.splice(-1, 1, { ...last, duration: last.duration + missing })
    else audio.push({ ...last, time: last.time + last.duration, duration: missing })
  }

  function flush(): void {
    const last = audio.at(-1)
    const end = release(null) ?? (last ? (last.time + last.duration) / rate() : partStart)
    if (tracks?.video) fill(end)
    close(end, true, true)
  }

  return {
    configure(given) {
      const next = { ...wanted, ...given }
      wanted = {
        video: sameTrack(next.video, wanted.video) ? wanted.video : next.video,
        audio: sameTrack(next.audio, wanted.audio) ? wanted.audio : next.audio,
      }
    },
    video(given) {
      if (wanted.video === null) return
      if (tracks === null) {
        if (!given.key) return
        const { time, offset } = given
        begin({ time, offset, seconds: (time + offset) / videoTimescale })
      }
      const frame = { ...given, time: given.time - begun.time, offset: given.offset - begun.offset }
      const isOther = tracks?.video !== wanted.video || tracks.audio !== wanted.audio
      if (isOther && frame.key) {
        flush()
        lastSound = null
        ;[tracks, partStart, segmentStart] = [wanted, frame.time / videoTimescale, frame.time / videoTimescale]
      } else if (tracks?.video !== wanted.video) return
      const at = frame.time / videoTimescale
      stoodUntil(at)
      release(frame.time)
      if (at > partStart) cut(at, frame.key, usual / videoTimescale)
      held = frame
    },
    audio(given) {
      if (wanted.audio === null) return
      if (tracks === null) {
        if (audio.push(given) > most.waitingSounds) audio.shift()
        const [first = given] = audio
        const waited = (given.time - first.time) / rate()
        if (wanted.video === null && waited >= waitForVideoSeconds)
          begin({ time: 0, offset: 0, seconds: first.time / rate() })
        return
      }
      if (tracks.audio !== wanted.audio) return
      const frame = soundSince(given)
      if (frame.time < 0) return
      if (held && isTooLong(frame.time / rate() - segmentStart - waitForVideoSeconds)) soundAlone(frame.time / rate())
      hear(frame)
    },
    end: flush,
  }
}

export interface ListedPart {
  duration: number
  independent: boolean
}

export interface ListedSegment {
  sequence: number
  init: number
  discontinuity: boolean
  /** Its time, to compare it with chat messages. */
  at: Date
  parts: readonly ListedPart[]
  done: boolean
}

interface PlaylistContent {
  segments: readonly ListedSegment[]
  discontinuitySequence: number
  targetDuration: number
  partTarget: number
  isOver: boolean
}

export const durationOf = ({ parts }: Pick<ListedSegment, 'parts'>): number =>
  parts.reduce((sum, { duration }) => sum + duration, 0)

/** Older parts are listed by their segment alone. */
const partsWithin = 3

/** What HLS players read (RFC 8216, with the parts of its second edition). */
export function renderPlaylist({
  segments,
  discontinuitySequence,
  targetDuration,
  partTarget,
  isOver,
}: PlaylistContent): string {
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:9',
    `#EXT-X-TARGETDURATION:${targetDuration}`,
    `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=${(3 * partTarget).toFixed(3)}`,
    `#EXT-X-PART-INF:PART-TARGET=${partTarget.toFixed(3)}`,
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.sequence ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuitySequence}`,
  ]
  let init: number | null = null
  for (const [index, segment] of segments.entries()) {
    if (segment.discontinuity && index > 0) lines.push('#EXT-X-DISCONTINUITY')
    if (segment.init !== init) lines.push(`#EXT-X-MAP:URI="init${segment.init}.mp4"`)
    init = segment.init
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${segment.at.toISOString()}`)
    const after = segments.slice(index + 1).reduce((sum, later) => sum + durationOf(later), 0)
    if (after < partsWithin * targetDuration)
      for (const [number, { duration, independent }] of segment.parts.entries())
        lines.push(
          `#EXT-X-PART:DURATION=${duration.toFixed(5)},URI="${partName(segment.sequence, number)}"${independent ? ',INDEPENDENT=YES' : ''}`,
        )
    if (segment.done) lines.push(`#EXTINF:${durationOf(segment).toFixed(5)},`, `${segment.sequence}.m4s`)
  }
  const next = nextPart(segments)
  if (isOver) lines.push('#EXT-X-ENDLIST')
  else if (next) lines.push(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${partName(next.sequence, next.part)}"`)
  return `${lines.join('\n')}\n`
}

const partName = (sequence: number, part: number): string => `${sequence}.${part}.m4s`

/** The part that comes next, if nothing changes. */
export function nextPart(segments: readonly ListedSegment[]): { sequence: number; part: number } | null {
  const last = segments.at(-1)
  if (!last) return null
  return last.done ? { sequence: last.sequence + 1, part: 0 } : { sequence: last.sequence, part: last.parts.length }
}
