import { cellEncoder } from '#server/media/cells'
import { clockPicture } from '#server/media/engine'
import { aacOf, aacSamples, aacSilence } from '#server/media/h264'
import { type AudioFrame, type VideoFrame, videoTimescale } from '#server/media/tracks'

export const begun = Date.UTC(2026, 0, 1)
export const tone = aacOf(48_000, 2)
export const silence = aacSilence

/** Pictures of a clock, each the given time after the one before. */
export function pictures(count: number, { fps = 10, keyEvery = 10, columns = 20, rows = 15, from = 0 } = {}) {
  const encoder = cellEncoder(columns, rows)
  const frames = Array.from({ length: count }, (_, index): VideoFrame => {
    const key = index % keyEvery === 0
    const picture = clockPicture(columns, rows, begun + Math.round((index * 1000) / fps))
    const time = Math.round(((from + index) * videoTimescale) / fps)
    return { time, offset: 0, key, data: encoder.encode(picture, key) }
  })
  return { config: encoder.config, frames }
}

export const sounds = (count: number, from = 0): AudioFrame[] =>
  Array.from({ length: count }, (_, index) => ({
    time: (from + index) * aacSamples,
    duration: aacSamples,
    data: silence,
  }))
