import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny'
import { secret } from './pictures.ts'

type Codec = 'opus' | 'aac' | 'vorbis'

interface Made {
  packets?: number
  /** Whether it has metadata: a title, and its author. */
  isTold?: boolean
  /** With a picture that moves beside the sound. */
  isFilm?: boolean
  /** The same sound so many times beside itself. */
  tracks?: number
}

/** The head of Opus: one channel, at 48 kHz. */
const opusHead = Uint8Array.from(Buffer.from('4f70757348656164010100008000bb0000000000', 'hex').subarray(0, 19))
const configs = {
  opus: { codec: 'opus', numberOfChannels: 1, sampleRate: 48_000, description: opusHead },
  vorbis: { codec: 'vorbis', numberOfChannels: 1, sampleRate: 48_000, description: Uint8Array.of(2, 1, 1, 1, 1, 1) },
  aac: { codec: 'mp4a.40.2', numberOfChannels: 1, sampleRate: 48_000, description: Uint8Array.of(0x11, 0x88) },
} as const
const packetSeconds = 0.02
/** A frame of silence, and others of the same length. */
const packetOf = (at: number) => Uint8Array.of(0x08, at & 0xff, at >> 8, 0xfe)

async function written(
  format: OutputFormat,
  codec: Codec,
  { packets = 50, isTold = false, isFilm = false, tracks = 1 }: Made,
): Promise<Buffer> {
  const target = new BufferTarget()
  const output = new Output({ format, target })
  const spoken = Array.from({ length: tracks }, () => new EncodedAudioPacketSource(codec))
  for (const sound of spoken) output.addAudioTrack(sound, isTold ? { name: secret } : {})
  const film = isFilm ? new EncodedVideoPacketSource(codec === 'aac' ? 'avc' : 'vp8') : null
  if (film) output.addVideoTrack(film)
  if (isTold) output.setMetadataTags({ title: secret, comment: secret, artist: secret })
  await output.start()
  if (film) {
    const [codecName, description] =
      codec === 'aac' ? (['avc1.42001e', avcHead] as const) : (['vp8', undefined] as const)
    const decoderConfig = { codec: codecName, codedWidth: 16, codedHeight: 16, ...(description && { description }) }
    await film.add(new EncodedPacket(Uint8Array.of(0x10, 0, 0, 0x9d, 1, 0x2a, 16, 0, 16, 0), 'key', 0, 1), {
      decoderConfig,
    })
  }
  for (let at = 0; at < packets; at++)
    for (const sound of spoken)
      await sound.add(new EncodedPacket(packetOf(at), 'key', at * packetSeconds, packetSeconds), {
        decoderConfig: configs[codec],
      })
  await output.finalize()
  return Buffer.from(target.buffer ?? new ArrayBuffer(0))
}

const avcHead = Uint8Array.from(Buffer.from('0142001effe100096742001e95a814016401000468ce3c80', 'hex'))

/** Voice messages that other code than their reader's has written. `live` ones are as of a browser, without total lengths. */
export const sounds = {
  webm: (made: Made = {}) => written(new WebMOutputFormat(), 'opus', made),
  liveWebm: (made: Made = {}) => written(new WebMOutputFormat({ appendOnly: true }), 'opus', made),
  ogg: (made: Made = {}) => written(new OggOutputFormat(), 'opus', made),
  mp4: (made: Made = {}) => written(new Mp4OutputFormat({ fastStart: false }), 'aac', made),
  liveMp4: (made: Made = {}) => written(new Mp4OutputFormat({ fastStart: 'fragmented' }), 'aac', made),
  opusMp4: (made: Made = {}) => written(new Mp4OutputFormat({ fastStart: 'in-memory' }), 'opus', made),
} as const

/** What browsers do not record as a voice message, though it is sound. */
export const others = {
  'a Matroska': () => written(new MkvOutputFormat(), 'opus', {}),
  'a WebM of Vorbis': () => written(new WebMOutputFormat(), 'vorbis', {}),
  'a WebM of two tracks': () => sounds.webm({ tracks: 2 }),
  'an MP4 of two tracks': () => sounds.mp4({ tracks: 2 }),
  'a WebM of which nothing has come': () => before(sounds.liveWebm(), Buffer.from('1f43b675', 'hex'), 0),
  'an MP4 of which nothing has come': () => before(sounds.liveMp4(), Buffer.from('moof'), 4),
} as const

async function before(making: Promise<Buffer>, part: Buffer, length: number): Promise<Buffer> {
  const made = await making
  return made.subarray(0, made.indexOf(part) - length)
}
