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
  endsSegment: boolean
}

export interface Packager {
  configure(tracks: Partial<Tracks>): void
  video(frame: VideoFrame): void
  audio(frame: AudioFrame): void
  end(): void
}

export interface Lengths {
  partMs: number
  segmentMs: number
}

const longestSegmentSeconds = 10
/** Key frames come a little early at times. */
const slackSeconds = 0.1
const waitForVideoSeconds = 1
const longestFill = 0.5
const most = { partBytes: 8 * 2 ** 20, segmentBytes: 32 * 2 ** 20, waitingSounds: 1000 }

/** Cuts what a publisher sends into parts and segments, at key frames where they come in time. */
export function createPackager({ partMs, segmentMs }: Lengths, emit: (part: Part) => void): Packager {
  let tracks: Tracks | null = null
  let wanted: Tracks = { video: null, audio: null }
  /** When the first picture is decoded, how much later it is shown, and when that is, in seconds: there sound begins as well. */
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

  const rate = () => wanted.audio?.sampleRate ?? 1
  const soundSince = (frame: AudioFrame) => ({ ...frame, time: frame.time - Math.round(begun.seconds * rate()) })

  function begin(at: typeof begun): void {
    begun = at
    tracks = wanted
    audio = audio.map(soundSince).filter(({ time }) => time >= 0)
  }

  function close(end: number, endsSegment: boolean): void {
    if (tracks && end > partStart && (video.length > 0 || audio.length > 0)) {
      const independent = tracks.video === null || video[0]?.key === true
      emit({ tracks, video, audio, start: partStart, duration: end - partStart, independent, endsSegment })
    }
    segmentBytes = endsSegment ? 0 : segmentBytes + bytes
    lastSound = audio.at(-1) ?? lastSound
    ;[video, audio, bytes, partStart] = [[], [], 0, end]
    if (endsSegment) segmentStart = end
  }

  /** Ends the part before what comes at this time, where it must end. */
  function cut(at: number, isKey: boolean, usualDuration: number): void {
    const length = at - segmentStart
    const isLong = length >= longestSegmentSeconds || segmentBytes + bytes > most.segmentBytes
    if (isLong || (isKey && length >= segmentMs / 1000 - slackSeconds)) close(at, true)
    else if (at + usualDuration - partStart > partMs / 1000 + 0.001 || bytes > most.partBytes) close(at, false)
  }

  /** The picture whose duration is known now, as the next one is there. Returns when it ends. */
  function release(until: number | null): number | null {
    if (!held) return null
    usual = until === null ? usual : until - held.time
    video.push({ ...held, duration: usual })
    bytes += held.data.length
    const end = (held.time + usual) / videoTimescale
    held = null
    return end
  }

  /** Players take what is missing of one track for a hole, and do not find the end of a livestream behind it. */
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
    const heard = last && !tracks?.video ? (last.time + last.duration) / rate() : partStart
    const end = release(null) ?? heard
    if (tracks?.video) fill(end)
    close(end, true)
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
      if (release(frame.time) !== null) cut(frame.time / videoTimescale, frame.key, usual / videoTimescale)
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
      if (tracks.video === null) cut(frame.time / rate(), true, frame.duration / rate())
      if (audio.length < most.waitingSounds) audio.push(frame)
      bytes += frame.data.length
    },
    end: flush,
  }
}
