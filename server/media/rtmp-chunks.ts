export interface Message {
  type: number
  stream: number
  /** Milliseconds, of 32 bits. */
  time: number
  body: Buffer
}

interface ChunkStream {
  time: number
  delta: number
  isExtended: boolean
  type: number
  stream: number
  length: number
  body: Buffer
  filled: number
}

const mostMessageBytes = 8 * 2 ** 20
/** Smaller chunks than every connection begins with are work for nothing. */
const leastChunkBytes = 128
const most = { chunkBytes: 2 ** 20, streams: 32, heldBytes: 12 * 2 ** 20 }
const firstBytes = 4 * 2 ** 10
const extended = 0xffffff
export const setChunkSize = 1
const abortMessage = 2

/** Assembles messages from chunks, within limits. Throws a RangeError for malformed or large ones. */
export function chunkReader(tell: (message: Message) => void): { push(bytes: Buffer): void; readonly held: number } {
  const streams = new Map<number, ChunkStream>()
  let chunkBytes = leastChunkBytes
  let held = 0
  /** A header that has not come whole. */
  let rest: Buffer = Buffer.alloc(0)
  let current: ChunkStream | null = null
  let left = 0

  function header(bytes: Buffer, from: number): number | null {
    const has = (end: number) => end <= bytes.length
    if (!has(from + 1)) return null
    const first = bytes.readUInt8(from)
    let at = from + 1
    let id = first & 63
    if (id < 2) {
      const size = id + 1
      if (!has(at + size)) return null
      id = 64 + bytes.readUInt8(at) + (size === 2 ? bytes.readUInt8(at + 1) * 256 : 0)
      at += size
    }
    const format = first >> 6
    const size = [11, 7, 3, 0][format] ?? 0
    if (!has(at + size)) return null
    const known = streams.get(id)
    if (!known && format !== 0) throw new RangeError('A chunk goes on with what did not begin')
    if (!known && streams.size >= most.streams) throw new RangeError('There are too many streams of chunks')
    const stamp = size >= 3 ? bytes.readUIntBE(at, 3) : 0
    const isExtended = size >= 3 ? stamp === extended : known?.isExtended === true
    const end = at + size + (isExtended ? 4 : 0)
    if (!has(end)) return null
    const told = isExtended ? bytes.readUInt32BE(end - 4) : stamp
    const stream = known ?? {
      time: 0,
      delta: 0,
      isExtended,
      type: 0,
      stream: 0,
      length: 0,
      body: Buffer.alloc(0),
      filled: 0,
    }
    streams.set(id, stream)
    const isBegun = stream.filled > 0
    if (isBegun && format !== 3) throw new RangeError('A message begins within another')
    if (size >= 7) {
      stream.length = bytes.readUIntBE(at + 3, 3)
      stream.type = bytes.readUInt8(at + 6)
    }
    if (size === 11) stream.stream = bytes.readUInt32LE(at + 7)
    if (!isBegun) {
      if (stream.length > mostMessageBytes) throw new RangeError('A message is too long')
      if (format !== 3) [stream.isExtended, stream.delta] = [isExtended, format === 0 ? 0 : told]
      stream.time = format === 0 ? told : (stream.time + stream.delta) >>> 0
    }
    current = stream
    left = Math.min(chunkBytes, stream.length - stream.filled)
    return end
  }

  function take(stream: ChunkStream, bytes: Buffer): void {
    const needed = stream.filled + bytes.length
    if (needed > stream.body.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(stream.length, Math.max(firstBytes, 2 * needed)))
      stream.body.copy(grown, 0, 0, stream.filled)
      held += grown.length - stream.body.length
      stream.body = grown
      if (held > most.heldBytes) throw new RangeError('Too many messages are not ended')
    }
    bytes.copy(stream.body, stream.filled)
    stream.filled = needed
  }

  function finish(stream: ChunkStream): void {
    const { type, time, stream: of } = stream
    const body = stream.body.subarray(0, stream.filled)
    reset(stream)
    if (type === setChunkSize && body.length >= 4) {
      const size = body.readUInt32BE(0)
      if (size < leastChunkBytes || size > most.chunkBytes) throw new RangeError('The size of chunks is not possible')
      chunkBytes = size
    } else if (type === abortMessage && body.length >= 4) {
      const aborted = streams.get(body.readUInt32BE(0))
      if (aborted) reset(aborted)
    } else tell({ type, stream: of, time, body })
  }

  function reset(stream: ChunkStream): void {
    held -= stream.body.length
    ;[stream.body, stream.filled] = [Buffer.alloc(0), 0]
  }

  return {
    get held() {
      return held + rest.length
    },
    push(given) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, given]) : given
      rest = Buffer.alloc(0)
      for (let at = 0; at < bytes.length; ) {
        if (current === null) {
          const end = header(bytes, at)
          if (end === null) {
            rest = Buffer.from(bytes.subarray(at))
            return
          }
          at = end
        }
        const stream: ChunkStream | null = current
        if (stream === null) return
        const slice = bytes.subarray(at, at + left)
        take(stream, slice)
        at += slice.length
        left -= slice.length
        if (left > 0) return
        current = null
        if (stream.filled >= stream.length) finish(stream)
      }
    },
  }
}

/** A message in chunks of this size. */
export function writeMessage(message: Message, chunkStream: number, chunkBytes: number): Buffer {
  const { type, stream, time, body } = message
  const head = Buffer.alloc(12)
  const isExtended = time >= extended
  head.writeUInt8(chunkStream, 0)
  head.writeUIntBE(isExtended ? extended : time, 1, 3)
  head.writeUIntBE(body.length, 4, 3)
  head.writeUInt8(type, 7)
  head.writeUInt32LE(stream, 8)
  const stamp = Buffer.alloc(isExtended ? 4 : 0)
  if (isExtended) stamp.writeUInt32BE(time)
  const chunks: Buffer[] = [head, stamp, body.subarray(0, chunkBytes)]
  for (let at = chunkBytes; at < body.length; at += chunkBytes)
    chunks.push(Buffer.from([0xc0 | chunkStream]), stamp, body.subarray(at, at + chunkBytes))
  return Buffer.concat(chunks)
}
