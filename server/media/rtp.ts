import { avcConfig, bitReader, lengthPrefixed, mostNals, nalType, nalTypes } from './h264.ts'
import type { VideoConfig } from './tracks.ts'

const startCode = 0x49_83_42

/** The size of a key frame of profile 0; null for other frames. Throws for a truncated one. */
export function readVp9Key(frame: Uint8Array): { width: number; height: number } | null {
  const read = bitReader(frame)
  if (read.bits(2) !== 2) return null
  const profile = read.bits(1) + 2 * read.bits(1)
  if (profile !== 0 || read.flag()) return null
  const isKey = !read.flag()
  read.bits(2)
  if (!isKey || read.bits(24) !== startCode) return null
  const isRgb = read.bits(3) === 7
  if (isRgb) return null
  read.flag()
  return { width: read.bits(16) + 1, height: read.bits(16) + 1 }
}

/** Profile 0, which browsers send: 8 bits, 4:2:0. */
export function vp9Config({ width, height }: { width: number; height: number }): VideoConfig {
  const level = width * height > 983_040 ? 41 : width * height > 245_760 ? 31 : 21
  const unspecified = 2
  const description = Buffer.from([1, 0, 0, 0, 0, level, 0x82, unspecified, unspecified, unspecified, 0, 0])
  const codec = `vp09.00.${level}.08`
  return { kind: 'vp09', codec, width, height, description, inBand: Buffer.alloc(0) }
}

export interface Packet {
  sequence: number
  timestamp: number
  marker: boolean
  payload: Buffer
}

/** A number that wraps, as one that goes on. */
export function unwrapper(size: number): (value: number) => number {
  let last: number | null = null
  return (value) => {
    const before: number = last ?? value
    const ahead = (((value - before) % size) + size) % size
    last = ahead < size / 2 ? before + ahead : before + ahead - size
    return last
  }
}

const mostWaiting = 512
const longestWaitMs = 400

/** Packets in order. Late ones are skipped, and `lost` is called before what follows. */
export function createReorder(
  now: () => number,
  deliver: (packet: Packet) => void,
  lost: () => void,
): (packet: Packet) => void {
  const unwrap = unwrapper(2 ** 16)
  const waiting = new Map<number, Packet>()
  let next: number | null = null
  let since = 0

  function drain(): void {
    for (let packet = waiting.get(next ?? 0); packet && next !== null; packet = waiting.get(next)) {
      waiting.delete(next++)
      since = now()
      deliver(packet)
    }
  }

  return (packet) => {
    const place = unwrap(packet.sequence)
    next ??= place
    if (place < next) return
    if (waiting.size === 0) since = now()
    waiting.set(place, packet)
    drain()
    if (waiting.size > mostWaiting || (waiting.size > 0 && now() - since > longestWaitMs)) {
      lost()
      next = Math.min(...waiting.keys())
      drain()
    }
  }
}

interface Picture {
  timestamp: number
  key: boolean
  data: Buffer
}

interface PictureReader {
  push(packet: Packet): void
  /** What is not whole is thrown away. */
  lost(): void
}

interface Heard {
  config(video: VideoConfig): void
  picture(picture: Picture): void
}

const mostBytes = 4 * 2 ** 20
/** What a packet counts at least, as what is kept of it takes memory however small it is. */
const leastBytes = 256
const mostSizeOfSet = 1024
const units = { together: 24, parted: 28 }

/** Whether it is readable. It is delivered outside, so that our faults are not the sender's. */
function isRead(read: () => void): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** H264 pictures (RFC 6184), with parameter sets apart. */
export function h264Reader(to: Heard): PictureReader {
  let nals: Buffer[] = []
  let parts: Buffer[] = []
  let bytes = 0
  let timestamp: number | null = null
  let isWhole = true
  let sps: Buffer | null = null
  let pps: Buffer | null = null

  function reset(): void {
    ;[nals, parts, bytes, timestamp, isWhole] = [[], [], 0, null, true]
  }

  function add(nal: Buffer): void {
    const type = nal.length > 0 ? nalType(nal) : 0
    if (type === nalTypes.sps && nal.length < mostSizeOfSet) sps = Buffer.from(nal)
    else if (type === nalTypes.pps && nal.length < mostSizeOfSet) pps = Buffer.from(nal)
    else if (type >= nalTypes.slice && type <= nalTypes.idr && nals.push(nal) > mostNals)
      throw new RangeError('A picture has too many units')
  }

  function finish(): void {
    const [at, whole] = [timestamp, isWhole ? nals : []]
    reset()
    if (at === null || whole.length === 0) return
    const key = whole.some((nal) => nalType(nal) === nalTypes.idr)
    const config = key ? described() : null
    if (config) to.config(config)
    to.picture({ timestamp: at, key, data: lengthPrefixed(whole) })
  }

  function described(): VideoConfig | null {
    let config: VideoConfig | null = null
    isRead(() => {
      if (sps && pps) config = avcConfig([sps], [pps])
    })
    return config
  }

  function unpack(payload: Buffer): void {
    const type = nalType(payload)
    if (type === units.together)
      for (let at = 1; at + 2 <= payload.length; ) {
        const end = at + 2 + payload.readUInt16BE(at)
        if (end > payload.length) throw new RangeError('A packet is malformed')
        add(payload.subarray(at + 2, end))
        at = end
      }
    else if (type === units.parted) {
      const [head, mark] = [payload.readUInt8(0), payload.readUInt8(1)]
      if (mark & 0x80) parts = [Buffer.from([(head & 0xe0) | (mark & 31)])]
      else if (parts.length === 0) isWhole = false
      parts.push(payload.subarray(2))
      if (mark & 0x40) {
        add(Buffer.concat(parts))
        parts = []
      }
    } else if (type < units.together) add(payload)
  }

  return {
    push(packet) {
      if (packet.payload.length === 0) return
      if (timestamp !== null && timestamp !== packet.timestamp) finish()
      timestamp ??= packet.timestamp
      bytes += Math.max(leastBytes, packet.payload.length)
      if (bytes > mostBytes || !isRead(() => unpack(packet.payload))) isWhole = false
      if (packet.marker) finish()
    },
    lost() {
      reset()
      isWhole = false
    },
  }
}

/** Pictures of VP9 (RFC 9628), of one layer. */
export function vp9Reader(to: Heard): PictureReader {
  let parts: Buffer[] = []
  let bytes = 0

  return {
    push({ payload, marker, timestamp }) {
      bytes += Math.max(leastBytes, payload.length)
      const isGood = isRead(() => {
        const begin = vp9Start(payload)
        if (begin.isFirst) [parts, bytes] = [[], payload.length]
        else if (parts.length === 0) return
        parts.push(payload.subarray(begin.at))
      })
      if (!isGood || bytes > mostBytes) parts = []
      if (!marker || parts.length === 0) return
      const data = Buffer.concat(parts)
      parts = []
      let size: ReturnType<typeof readVp9Key> = null
      if (!isRead(() => (size = readVp9Key(data)))) return
      if (size) to.config(vp9Config(size))
      to.picture({ timestamp, key: size !== null, data })
    },
    lost() {
      parts = []
    },
  }
}

/** The start of the picture in a packet, behind its descriptor. */
function vp9Start(payload: Buffer): { at: number; isFirst: boolean } {
  const head = payload.readUInt8(0)
  const has = (bit: number) => (head & (0x80 >> bit)) !== 0
  let at = 1
  if (has(0)) at += payload.readUInt8(at) & 0x80 ? 2 : 1
  if (has(2)) at += has(3) ? 1 : 2
  if (has(1) && has(3)) while (payload.readUInt8(at++) & 1);
  if (has(6)) {
    const structure = payload.readUInt8(at++)
    if (structure & 0x10) at += 4 * ((structure >> 5) + 1)
    if (structure & 0x08)
      for (let groups = payload.readUInt8(at++); groups > 0; groups--) at += 1 + ((payload.readUInt8(at) >> 2) & 3)
  }
  if (at > payload.length) throw new RangeError('A packet ends early')
  return { at, isFirst: has(4) }
}
