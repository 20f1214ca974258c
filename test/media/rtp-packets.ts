import { nalType, splitLengthPrefixed } from '#server/media/h264'
import type { Packet } from '#server/media/rtp'
import type { VideoConfig, VideoFrame } from '#server/media/tracks'

const mostPayload = 1_100

/** Pictures as browsers send them: parameter sets together, what is large in parts. */
export function packetsOf(config: VideoConfig, frames: readonly VideoFrame[], first = 65_000): Packet[] {
  let sequence = first
  return frames.flatMap(({ time, key, data }) => {
    const payloads = [
      ...(key ? [together(splitLengthPrefixed(config.inBand))] : []),
      ...splitLengthPrefixed(data).flatMap((nal) => (nal.length > mostPayload ? parted(nal) : [Buffer.from(nal)])),
    ]
    return payloads.map((payload, index) => {
      const marker = index === payloads.length - 1
      return { sequence: sequence++ & 0xffff, timestamp: time % 2 ** 32, marker, payload }
    })
  })
}

function together(nals: readonly Uint8Array[]): Buffer {
  const listed = nals.flatMap((nal) => [Buffer.from([nal.length >> 8, nal.length & 255]), nal])
  return Buffer.concat([Buffer.from([0x78]), ...listed])
}

function parted(nal: Uint8Array): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 1; at < nal.length; at += mostPayload) {
    const mark = (at === 1 ? 0x80 : 0) | (at + mostPayload >= nal.length ? 0x40 : 0) | nalType(nal)
    parts.push(Buffer.concat([Buffer.from([((nal[0] ?? 0) & 0xe0) | 28, mark]), nal.subarray(at, at + mostPayload)]))
  }
  return parts
}
