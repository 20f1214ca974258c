import { type AudioFrame, type VideoFrame, videoTimescale } from './tracks.ts'

type VideoCodec = 'H264' | 'VP9'

export interface ChosenOffer {
  sdp: string
  /** Null where there is no picture in it. */
  video: VideoCodec | null
  audio: boolean
}

const most = { bytes: 100_000, sections: 8, lines: 2_000 }
/** Browsers connect to us. Their candidates are anybody's choice, so none is called, and the list stays open. */
const saysWhere = /^a=(?:candidate|remote-candidates|end-of-candidates)\b/

/** Reduces an offer to one codec: H264, else VP9 profile 0, with Opus. Null without any; throws a RangeError for no offer. */
export function chooseOffer(offer: string, taken: readonly VideoCodec[] = ['H264', 'VP9']): ChosenOffer | null {
  const lines = offer.split(/\r?\n/).filter((line) => line !== '' && !saysWhere.test(line))
  const starts = lines.flatMap((line, index) => (line.startsWith('m=') ? [index] : []))
  if (
    offer.length > most.bytes ||
    lines.length > most.lines ||
    starts.length > most.sections ||
    !lines[0]?.startsWith('v=')
  )
    throw new RangeError('This is no offer')
  let video: ChosenOffer['video'] = null
  let audio = false
  const sections = starts.map((start, index) => {
    const section = lines.slice(start, starts[index + 1])
    const kind = /^m=(\w+)/.exec(section[0] ?? '')?.[1]
    const codecs = codecsOf(section)
    if (kind === 'audio' && !audio) {
      const opus = codecs.find(({ name }) => name === 'OPUS')
      audio ||= opus !== undefined
      return opus ? only(section, [opus.type]) : section
    }
    if (kind === 'video' && video === null) {
      const isTaken = ({ name }: { name: string }) => taken.some((codec) => codec === name)
      const known = codecs.filter(isTaken)
      const h264 = known.find(({ name, format }) => name === 'H264' && /packetization-mode=1/.test(format))
      const vp9 = known.find(({ name, format }) => name === 'VP9' && !/profile-id=[1-9]/.test(format))
      const chosen = h264 ?? vp9
      if (!chosen) return section
      video = h264 ? 'H264' : 'VP9'
      const again = codecs.find(({ name, format }) => name === 'RTX' && format === `apt=${chosen.type}`)
      return only(section, [chosen.type, ...(again ? [again.type] : [])])
    }
    return section
  })
  if (video === null && (!audio || starts.some((start) => lines[start]?.startsWith('m=video')))) return null
  return { sdp: [...lines.slice(0, starts[0]), ...sections.flat(), ''].join('\r\n'), video, audio }
}

/** Makes browsers start with a good picture; their own default is a poor one. */
export const withStartBitrate = (answer: string, kilobits: number): string =>
  answer.replace(/(m=video[\s\S]*?a=fmtp:\d+ (?!apt=)[^\r\n]*)/, `$1;x-google-start-bitrate=${kilobits}`)

function codecsOf(section: readonly string[]): { type: string; name: string; format: string }[] {
  const formats = new Map<string, string>()
  for (const line of section) {
    const [, type, format] = /^a=fmtp:(\d{1,3}) (.*)/.exec(line) ?? []
    if (type !== undefined && format !== undefined && !formats.has(type)) formats.set(type, format)
  }
  return section.flatMap((line) => {
    const [, type, name] = /^a=rtpmap:(\d{1,3}) ([\w-]+)\//.exec(line) ?? []
    if (type === undefined || name === undefined) return []
    return [{ type, name: name.toUpperCase(), format: formats.get(type) ?? '' }]
  })
}

function only(section: readonly string[], types: readonly string[]): string[] {
  return section.flatMap((line) => {
    if (line.startsWith('m=')) return [[...line.split(' ').slice(0, 3), ...types].join(' ')]
    const of = /^a=(?:rtpmap|fmtp|rtcp-fb):(\d{1,3}) /.exec(line)?.[1]
    return of === undefined || types.includes(of) ? [line] : []
  })
}

export type Kind = 'video' | 'audio'

interface Alignment {
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
