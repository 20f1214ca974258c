import { type AudioFrame, type VideoFrame, videoTimescale } from './tracks.ts'

export type Kind = 'video' | 'audio'

export interface Alignment {
  /** From a report of the sender: the same moment on its clock, in seconds, and on that of the track. */
  report(kind: Kind, seconds: number, timestamp: number): void
  video(frame: VideoFrame): void
  audio(frame: AudioFrame): void
}

const longestWaitMs = 2_500
const mostHeld = { frames: 2_000, bytes: 16 * 2 ** 20 }
/** A clock that is set is none that drifts. */
const mostDriftSeconds = 0.5

interface Track {
  rate: number
  /** Seconds between the clock of the track and that of the sender; of the reports, and the least by arrival. */
  reported: number | null
  arrived: number | null
}

/** Aligns both tracks by sender reports. Without reports, the first packets of each count as simultaneous. */
export function createAlignment(
  now: () => number,
  kinds: readonly Kind[],
  rates: { audio: number },
  to: { video(frame: VideoFrame): void; audio(frame: AudioFrame): void },
): Alignment {
  const tracks: Record<Kind, Track> = {
    video: { rate: videoTimescale, reported: null, arrived: null },
    audio: { rate: rates.audio, reported: null, arrived: null },
  }
  let held: { kind: Kind; give: () => void; at: () => number }[] = []
  let heldBytes = 0
  let since: number | null = null
  let isByReport: boolean | null = null

  const offsetOf = ({ reported, arrived }: Track) => (isByReport ? reported : arrived) ?? 0

  function decide(): void {
    const areReported = kinds.every((kind) => tracks[kind].reported !== null)
    const isLate = since !== null && now() - since > longestWaitMs
    const isMuch = held.length >= mostHeld.frames || heldBytes > mostHeld.bytes
    if (!areReported && kinds.length > 1 && !isLate && !isMuch) return
    isByReport = areReported
    const waiting = held.sort((one, other) => one.at() - other.at())
    held = []
    for (const { give } of waiting) give()
  }

  function take(kind: Kind, { time, data }: VideoFrame | AudioFrame, give: (shift: number) => void): void {
    const track = tracks[kind]
    const seconds = time / track.rate
    if (isByReport !== null) {
      give(Math.round(offsetOf(track) * track.rate))
      return
    }
    since ??= now()
    heldBytes += data.length
    track.arrived = Math.min(track.arrived ?? Number.POSITIVE_INFINITY, now() / 1000 - seconds)
    held.push({
      kind,
      give: () => give(Math.round(offsetOf(track) * track.rate)),
      at: () => seconds + offsetOf(track),
    })
    decide()
  }

  return {
    report(kind, seconds, timestamp) {
      const track = tracks[kind]
      const told = seconds - timestamp / track.rate
      if (isByReport === null || Math.abs(told - (track.reported ?? told)) < mostDriftSeconds) track.reported = told
      if (isByReport === null) decide()
    },
    video: (frame) => take('video', frame, (shift) => to.video({ ...frame, time: frame.time + shift })),
    audio: (frame) => take('audio', frame, (shift) => to.audio({ ...frame, time: frame.time + shift })),
  }
}
