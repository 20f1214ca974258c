/** Times of pictures are counted in this many to the second; those of sound in its sample rate. */
export const videoTimescale = 90_000

export interface VideoConfig {
  kind: 'avc1' | 'vp09'
  /** As players name it (RFC 6381). */
  codec: string
  width: number
  height: number
  /** The content of the box `avcC` or `vpcC`. */
  description: Uint8Array
  /** Data before a key frame of another size; empty if the codec needs none. */
  inBand: Uint8Array
}

export interface AudioConfig {
  kind: 'mp4a' | 'Opus'
  codec: string
  channels: number
  sampleRate: number
  /** For AAC its AudioSpecificConfig; for Opus the content of `dOps`. */
  description: Uint8Array
}

export interface Tracks {
  video: VideoConfig | null
  audio: AudioConfig | null
}

export interface VideoFrame {
  time: number
  /** How much later than in the order of decoding it is shown. */
  offset: number
  key: boolean
  data: Uint8Array
}

export interface AudioFrame {
  time: number
  duration: number
  data: Uint8Array
}

export interface Sample extends VideoFrame {
  duration: number
}

export function sameTrack(one: VideoConfig | AudioConfig | null, other: VideoConfig | AudioConfig | null): boolean {
  if (one === null || other === null) return one === other
  return one.codec === other.codec && Buffer.compare(one.description, other.description) === 0
}
