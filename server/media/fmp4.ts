import { type AudioConfig, type Sample, type Tracks, type VideoConfig, videoTimescale } from './tracks.ts'

const trackIds = { video: 1, audio: 2 } as const
const brands = ['iso6', 'iso6', 'cmfc', 'mp41']
/** Whether a sample can be decoded by itself. */
const sampleFlags = { key: 0x02000000, other: 0x01010000 }

/** What a player needs before the first fragment: the tracks and how they are coded. */
export function initSegment({ video, audio }: Tracks): Buffer {
  const tracks = [
    ...(video ? [{ id: trackIds.video, trak: track(trackIds.video, videoTimescale, video) }] : []),
    ...(audio ? [{ id: trackIds.audio, trak: track(trackIds.audio, audio.sampleRate, audio) }] : []),
  ]
  const [major = '', ...compatible] = brands
  return Buffer.concat([
    box('ftyp', text(major), u32(0x200), ...compatible.map(text)),
    box(
      'moov',
      full('mvhd', 0, 0, u32(0, 0, 1000, 0, 0x00010000), u16(0x0100, 0), u32(0, 0), matrix, zeros(24), u32(3)),
      ...tracks.map(({ trak }) => trak),
      box('mvex', ...tracks.map(({ id }) => full('trex', 0, 0, u32(id, 1, 0, 0, 0)))),
    ),
  ])
}

interface Run {
  video: readonly Sample[]
  audio: readonly Sample[]
}

/** The samples of a short time, each track with the time at which it goes on. */
export function fragment(sequence: number, { video, audio }: Run): Buffer {
  const runs = [
    { id: trackIds.video, samples: video },
    { id: trackIds.audio, samples: audio },
  ].filter(({ samples }) => samples.length > 0)
  const moof = (offsets: readonly number[]) =>
    box(
      'moof',
      full('mfhd', 0, 0, u32(sequence)),
      ...runs.map(({ id, samples }, index) => trackFragment(id, samples, offsets[index] ?? 0)),
    )
  const { length } = moof([])
  let next = length + 8
  const offsets = runs.map(({ samples }) => {
    const offset = next
    next += samples.reduce((sum, { data }) => sum + data.length, 0)
    return offset
  })
  return Buffer.concat([moof(offsets), box('mdat', ...runs.flatMap(({ samples }) => samples.map(({ data }) => data)))])
}

function trackFragment(id: number, samples: readonly Sample[], dataOffset: number): Buffer {
  const isReordered = samples.some(({ offset }) => offset !== 0)
  const rows = samples.flatMap(({ duration, data, key, offset }) => [
    u32(duration, data.length, key ? sampleFlags.key : sampleFlags.other),
    ...(isReordered ? [i32(offset)] : []),
  ])
  return box(
    'traf',
    full('tfhd', 0, 0x020000, u32(id)),
    full('tfdt', 1, 0, u64(samples[0]?.time ?? 0)),
    full('trun', 1, isReordered ? 0xf01 : 0x701, u32(samples.length), i32(dataOffset), ...rows),
  )
}

function track(id: number, timescale: number, config: VideoConfig | AudioConfig): Buffer {
  const isVideo = 'width' in config
  const size = isVideo ? u32(config.width * 0x10000, config.height * 0x10000) : u32(0, 0)
  const volume = u16(isVideo ? 0 : 0x0100)
  return box(
    'trak',
    full('tkhd', 0, 3, u32(0, 0, id, 0, 0), zeros(8), u16(0, isVideo ? 0 : 1), volume, u16(0), matrix, size),
    box(
      'mdia',
      full('mdhd', 0, 0, u32(0, 0, timescale, 0), u16(0x55c4, 0)),
      full('hdlr', 0, 0, u32(0), text(isVideo ? 'vide' : 'soun'), zeros(12), text('Plaza\0')),
      box(
        'minf',
        isVideo ? full('vmhd', 0, 1, zeros(8)) : full('smhd', 0, 0, zeros(4)),
        box('dinf', full('dref', 0, 0, u32(1), full('url ', 0, 1))),
        box(
          'stbl',
          full('stsd', 0, 0, u32(1), isVideo ? videoEntry(config) : audioEntry(config)),
          full('stts', 0, 0, u32(0)),
          full('stsc', 0, 0, u32(0)),
          full('stsz', 0, 0, u32(0, 0)),
          full('stco', 0, 0, u32(0)),
        ),
      ),
    ),
  )
}

const videoEntry = ({ kind, width, height, description }: VideoConfig) =>
  box(
    kind,
    zeros(6),
    u16(1),
    zeros(16),
    u16(width, height),
    u32(0x00480000, 0x00480000, 0),
    u16(1),
    zeros(32),
    u16(0x0018, 0xffff),
    box(kind === 'avc1' ? 'avcC' : 'vpcC', description),
  )

const audioEntry = ({ kind, channels, sampleRate, description }: AudioConfig) =>
  box(
    kind,
    zeros(6),
    u16(1),
    zeros(8),
    u16(channels, 16),
    u32(0, (sampleRate % 0x10000) * 0x10000),
    kind === 'Opus' ? box('dOps', description) : full('esds', 0, 0, streamDescriptor(description)),
  )

/** How MPEG-4 systems describe a stream of AAC (ISO/IEC 14496-1). */
const streamDescriptor = (specific: Uint8Array) =>
  descriptor(
    3,
    u16(trackIds.audio),
    u8(0),
    descriptor(4, u8(0x40, 0x15, 0, 0, 0), u32(0, 0), descriptor(5, specific)),
    descriptor(6, u8(2)),
  )

function descriptor(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([u8(tag, 0x80, 0x80, 0x80, body.length), body])
}

function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, 8)
  return Buffer.concat([u32(size), text(type), ...content], size)
}

const full = (type: string, version: number, flags: number, ...content: readonly Uint8Array[]) =>
  box(type, u32(version * 0x1000000 + flags), ...content)
const text = (value: string) => Buffer.from(value, 'latin1')
const zeros = (count: number) => Buffer.alloc(count)
const u8 = (...values: readonly number[]) => Buffer.from(values)
const u16 = (...values: readonly number[]) => numbers(2, values, (to, value, at) => to.writeUInt16BE(value, at))
const u32 = (...values: readonly number[]) => numbers(4, values, (to, value, at) => to.writeUInt32BE(value, at))
const i32 = (...values: readonly number[]) => numbers(4, values, (to, value, at) => to.writeInt32BE(value, at))
const u64 = (...values: readonly number[]) =>
  numbers(8, values, (to, value, at) => to.writeBigUInt64BE(BigInt(value), at))

function numbers(
  size: number,
  values: readonly number[],
  write: (to: Buffer, value: number, at: number) => void,
): Buffer {
  const bytes = Buffer.alloc(size * values.length)
  for (const [index, value] of values.entries()) write(bytes, value, index * size)
  return bytes
}

const matrix = u32(0x00010000, 0, 0, 0, 0x00010000, 0, 0, 0, 0x40000000)
