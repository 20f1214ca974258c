import { type AudioFrame, type VideoFrame, videoTimescale } from './tracks.ts'

const jumpSeconds = 10
const backSeconds = 1
const usualSeconds = 1 / 30

export interface Timeline {
  /** With times from 0 at the first frame of either track, each later than the one before. */
  video(frame: VideoFrame): VideoFrame
  /** Null where it would be heard before what was. */
  audio(frame: AudioFrame): AudioFrame | null
}

/**
 * The times of one publisher. Its clock may begin anywhere, jump, and be coarse: sound follows sound without gaps, as long as the clock
 * says nothing else by more than two frames. Where it jumps, both tracks go on as if it had not.
 */
export function createTimeline(sampleRate: () => number): Timeline {
  let origin: number | null = null
  let lastVideo = -1
  let nextAudio: number | null = null

  /** Seconds since the beginning; a jump moves the beginning. */
  function place(seconds: number, last: number | null): number {
    origin ??= seconds
    const at = seconds - origin
    if (last === null || (at - last < jumpSeconds && last - at < backSeconds)) return at
    origin = seconds - last - usualSeconds
    return last + usualSeconds
  }

  return {
    video(frame) {
      const last = lastVideo < 0 ? null : lastVideo / videoTimescale
      const at = Math.round(place(frame.time / videoTimescale, last) * videoTimescale)
      lastVideo = Math.max(at, lastVideo + 1)
      return { ...frame, time: lastVideo }
    },
    audio(frame) {
      const rate = sampleRate()
      const at = Math.round(place(frame.time / rate, nextAudio === null ? null : nextAudio / rate) * rate)
      if (at < 0 && nextAudio === null) return null
      const expected = nextAudio ?? at
      const isNear = Math.abs(at - expected) <= 2 * frame.duration
      if (!isNear && at < expected) return null
      const time = isNear ? expected : at
      nextAudio = time + frame.duration
      return { ...frame, time }
    },
  }
}
