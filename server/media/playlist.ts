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

export interface PlaylistContent {
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

export const partName = (sequence: number, part: number): string => `${sequence}.${part}.m4s`

/** The part that comes next, if nothing changes. */
export function nextPart(segments: readonly ListedSegment[]): { sequence: number; part: number } | null {
  const last = segments.at(-1)
  if (!last) return null
  return last.done ? { sequence: last.sequence + 1, part: 0 } : { sequence: last.sequence, part: last.parts.length }
}
