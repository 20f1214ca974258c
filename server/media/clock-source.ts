import { aacOf, aacSamples, aacSilence } from './audio.ts'
import { cellEncoder } from './cells.ts'
import type { Clock } from './clock.ts'
import { clockPicture } from './clock-picture.ts'
import type { Publisher } from './publisher.ts'
import { videoTimescale } from './tracks.ts'

/** In squares of 16 pixels. */
const size = { columns: 20, rows: 30 }
const framesInSecond = 15
const rate = 48_000

/** Publishes a clock, in silence; returns what ends it. */
export function playClock(publisher: Publisher, clock: Clock, wall: () => number): () => void {
  const encoder = cellEncoder(size.columns, size.rows)
  publisher.configure({ video: encoder.config, audio: aacOf(rate, 2) })
  const begun = clock.now()
  let frame = 0
  let sounds = 0
  let callOff = () => {}
  function show(): void {
    const key = frame % framesInSecond === 0
    const data = encoder.encode(clockPicture(size.columns, size.rows, wall()), key)
    publisher.video({ time: Math.round((frame * videoTimescale) / framesInSecond), offset: 0, key, data })
    for (; sounds * aacSamples <= (frame / framesInSecond) * rate; sounds++)
      publisher.audio({ time: sounds * aacSamples, duration: aacSamples, data: aacSilence })
    frame++
    callOff = clock.after(Math.max(1, begun + (frame * 1_000) / framesInSecond - clock.now()), show)
  }
  show()
  return () => callOff()
}
