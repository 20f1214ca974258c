import { type AudioFrame, type VideoFrame, videoTimescale } from './tracks.ts'

const jumpSeconds = 10
const backSeconds = 1
/** A frame that is further ahead of the other track and of real time has a wrong timestamp. */
const aheadSeconds = 1
const usualSeconds = 1 / 30

export interface Timeline {
  /** With times from 0 at the first frame of either track, each later than the one before. */
  video(frame: VideoFrame): VideoFrame
  /** Null where it would be heard before what was. */
  audio(frame: AudioFrame): AudioFrame | null
}

/** The timeline of a publisher with any clock: sound is gapless within two frames, and tracks continue over jumps. */
export function createTimeline(sampleRate: () => number, milliseconds: () => number): Timeline {
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
