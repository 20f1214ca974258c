import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { addressOf } from '#server/kernel/addresses'
import { createConnectionCounter } from '#server/kernel/opens'
import { aacConfig, aacSamples, lengthPrefixed, parseAvcDescription, splitLengthPrefixed } from './h264.ts'
import type { Ingest } from './live.ts'
import { chunkReader, type Message, setChunkSize, writeMessage } from './rtmp-chunks.ts'

/** What RTMP writes its commands in (AMF0), as far as publishers use it. */
export type Amf = number | boolean | string | null | undefined | readonly Amf[] | { readonly [name: string]: Amf }

const mostAmf = { depth: 8, values: 1000 }
const markers = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  null: 5,
  undefined: 6,
  map: 8,
  end: 9,
  list: 10,
  date: 11,
  long: 12,
}

/** All values there are. Throws a RangeError where they are malformed, nested too deeply or too many. */
export function decodeAmf(bytes: Buffer): Amf[] {
  let at = 0
  let count = 0
  const move = (by: number): number => {
    at += by
    if (at > bytes.length) throw new RangeError('A value ends early')
    return at - by
  }
  const text = (length: number) => {
    const from = move(length)
    return bytes.toString('utf8', from, from + length)
  }
  const short = () => text(bytes.readUInt16BE(move(2)))

  function object(depth: number): Amf {
    const found: [string, Amf][] = []
    for (;;) {
      const name = short()
      if (name === '' && bytes[at] === markers.end) break
      found.push([name, value(depth + 1)])
    }
    move(1)
    return Object.fromEntries(found)
  }

  function value(depth: number): Amf {
    if (depth > mostAmf.depth || ++count > mostAmf.values) throw new RangeError('There are too many values')
    const marker = bytes.readUInt8(move(1))
    switch (marker) {
      case markers.number:
        return bytes.readDoubleBE(move(8))
      case markers.boolean:
        return bytes.readUInt8(move(1)) !== 0
      case markers.string:
        return short()
      case markers.long:
        return text(bytes.readUInt32BE(move(4)))
      case markers.object:
        return object(depth)
      case markers.map:
        move(4)
        return object(depth)
      case markers.list: {
        const length = bytes.readUInt32BE(move(4))
        if (length > mostAmf.values) throw new RangeError('There are too many values')
        return Array.from({ length }, () => value(depth + 1))
      }
      case markers.date: {
        const milliseconds = bytes.readDoubleBE(move(8))
        move(2)
        return milliseconds
      }
      case markers.null:
        return null
      case markers.undefined:
        return undefined
      default:
        throw new RangeError('A value is of no known kind')
    }
  }

  const values: Amf[] = []
  while (at < bytes.length) values.push(value(0))
  return values
}

export const encodeAmf = (...values: readonly Amf[]): Buffer => Buffer.concat(values.map(encode))

function encode(value: Amf): Buffer {
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (typeof value === 'boolean') return Buffer.from([markers.boolean, value ? 1 : 0])
  if (typeof value === 'string') return Buffer.concat([Buffer.from([markers.string]), name(value)])
  if (value === null || value === undefined) return Buffer.from([markers.null])
  const fields = Object.entries(value).flatMap(([key, inner]) => [name(key), encode(inner)])
  return Buffer.concat([Buffer.from([markers.object]), ...fields, Buffer.from([0, 0, markers.end])])
}

function name(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

/** Neither H264 nor AAC. */
export class UnknownCodec extends Error {}

const h264 = 7
const aac = 10
const ticksInMillisecond = 90

/** Pictures and sounds as RTMP carries them. What it is given may throw a RangeError where it is malformed. */
export function flvReader(to: Pick<Ingest, 'configure' | 'video' | 'audio'>) {
  let lengthSize: number | null = null
  let sampleRate: number | null = null

  return {
    video(time: number, tag: Buffer): void {
      if (tag.length === 0) return
      const head = tag.readUInt8(0)
      if (head >= 0x80 || (head & 15) !== h264) throw new UnknownCodec('The picture is not H264')
      const isKey = head >> 4 === 1
      const kind = tag.readUInt8(1)
      const rest = tag.subarray(5)
      if (kind === 0) {
        const read = parseAvcDescription(rest)
        lengthSize = read.lengthSize
        to.configure({ video: read.config })
      }
      if (kind !== 1 || lengthSize === null || head >> 4 > 2) return
      const nals = splitLengthPrefixed(rest, lengthSize)
      if (nals.length === 0) return
      const offset = tag.readIntBE(2, 3) * ticksInMillisecond
      const data = lengthSize === 4 ? rest : lengthPrefixed(nals)
      to.video({ time: time * ticksInMillisecond, offset, key: isKey, data })
    },

    audio(time: number, tag: Buffer): void {
      if (tag.length < 2) return
      if (tag.readUInt8(0) >> 4 !== aac) throw new UnknownCodec('The sound is not AAC')
      const data = tag.subarray(2)
      if (tag.readUInt8(1) === 0) {
        const audio = aacConfig(data)
        sampleRate = audio.sampleRate
        to.configure({ audio })
      } else if (sampleRate !== null && data.length > 0)
        to.audio({ time: Math.round((time * sampleRate) / 1000), duration: aacSamples, data })
    },
  }
}

interface RtmpOptions {
  /** Null for a wrong key. `stop` ends the connection. */
  publish(key: string, stop: () => void): Publisher | null
}

const handshakeBytes = 1536
const chunkBytes = 4096
const types = { ack: 3, windowAck: 5, peerBandwidth: 6, audio: 8, video: 9, command3: 17, command: 20 }
const most = {
  connections: 2_000,
  /** Of an address in a second. Those beyond are closed before anything is read. */
  opened: 100,
  /** Those that publish nothing, together and of an address. */
  waiting: 100,
  waitingOfAddress: 20,
  /** Before something is published. */
  bytesBefore: 128 * 1024,
  unsentBytes: 64 * 1024,
  malformed: 50,
  bytesInSecond: 8 * 2 ** 20,
  messagesInSecond: 4_000,
}
const deadlines = { publish: 10_000, idle: 20_000 }
const windowBytes = 2_500_000

/** Takes what OBS and ffmpeg publish. A connection that breaks the protocol, or asks for more than is allowed, is ended. */
export function rtmpServer(options: RtmpOptions): Server {
  const waiting: Waiting = new Map()
  const opens = createConnectionCounter(most.opened)
  const server = createServer({ noDelay: true }, (socket) => {
    if (opens(addressAt(socket))) serve(socket, options, waiting)
    else socket.destroy()
  })
  server.maxConnections = most.connections
  return server
}

/** Connections that publish nothing, in the order in which they came, with their addresses. */
type Waiting = Map<Socket, string>

const addressAt = ({ remoteAddress = 'unknown' }: Socket): string => addressOf(undefined, 0, remoteAddress)

/** A new connection replaces the longest-waiting one of the busiest address, so that idle ones block nobody. */
function wait(socket: Socket, waiting: Waiting): void {
  const address = addressAt(socket)
  const counts = new Map<string, number>()
  for (const one of waiting.values()) counts.set(one, (counts.get(one) ?? 0) + 1)
  const isMany = (counts.get(address) ?? 0) >= most.waitingOfAddress
  const [largest] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0])
  const giving = isMany ? address : waiting.size >= most.waiting ? largest : null
  const oldest = [...waiting].find(([, one]) => one === giving)?.[0]
  if (oldest) {
    waiting.delete(oldest)
    oldest.destroy()
  }
  waiting.set(socket, address)
}

function serve(socket: Socket, { publish }: RtmpOptions, waiting: Waiting): void {
  let publisher: Publisher | null = null
  let flv: ReturnType<typeof flvReader> | null = null
  let malformed = 0
  let acknowledged = 0
  let bytesBefore = 0
  let budget = { since: performance.now(), bytes: 0, messages: 0 }
  const late = setTimeout(() => socket.destroy(), deadlines.publish)
  wait(socket, waiting)

  const send = (type: number, body: Buffer, stream = 0, on = 3): void => {
    socket.write(writeMessage({ type, stream, time: 0, body }, on, chunkBytes))
    // Slow readers are not awaited.
    if (socket.writableLength > most.unsentBytes) socket.destroy()
  }
  const u32 = (value: number, ...more: number[]) => Buffer.from([...bigEndian(value), ...more])
  const command = (...values: Amf[]) => send(types.command, encodeAmf(...values))
  const status = (level: string, code: string, description: string) =>
    send(types.command, encodeAmf('onStatus', 0, null, { level, code, description }), 1, 5)
  const stop = (code: string, description: string): void => {
    status('error', code, description)
    socket.end()
    socket.destroySoon()
  }
  const end = (isMeant: boolean): void => {
    const ended = publisher
    ;[publisher, flv] = [null, null]
    if (ended && !socket.destroyed) wait(socket, waiting)
    ended?.end(isMeant)
  }

  function begin(name: Amf): void {
    if (publisher || typeof name !== 'string') throw new RangeError('There is nothing to publish')
    publisher = publish(name.split('?')[0] ?? '', () => socket.destroy())
    if (publisher) {
      clearTimeout(late)
      waiting.delete(socket)
      flv = flvReader(publisher)
      status('status', 'NetStream.Publish.Start', 'Publishing')
    } else stop('NetStream.Publish.BadName', 'The stream key is wrong')
  }

  function obey([name, transaction, , ...values]: readonly Amf[]): void {
    if (name === 'connect') {
      send(types.windowAck, u32(windowBytes), 0, 2)
      send(types.peerBandwidth, u32(windowBytes, 2), 0, 2)
      send(setChunkSize, u32(chunkBytes), 0, 2)
      const description = 'Connected'
      const answer = { level: 'status', code: 'NetConnection.Connect.Success', description, objectEncoding: 0 }
      command('_result', transaction, { fmsVer: 'FMS/3,0,1,123', capabilities: 31 }, answer)
    } else if (name === 'createStream') command('_result', transaction, null, 1)
    else if (name === 'publish') begin(values[0])
    else if (name === 'play') socket.destroy()
    else if (name === 'FCUnpublish' || name === 'deleteStream' || name === 'closeStream') end(true)
  }

  function hear({ type, time, body }: Message): void {
    if (type === types.command || type === types.command3)
      obey(decodeAmf(body.subarray(type === types.command ? 0 : 1)))
    try {
      if (type === types.video) flv?.video(time, body)
      if (type === types.audio) flv?.audio(time, body)
    } catch (error) {
      if (error instanceof UnknownCodec) stop('NetStream.Publish.BadName', `${error.message}: send H264 and AAC`)
      else if (!(error instanceof RangeError) || ++malformed > most.malformed) throw error
    }
  }

  const reader = chunkReader((message) => {
    if (++budget.messages > most.messagesInSecond) throw new RangeError('These are more messages than a livestream has')
    // Messages of a refused client are ignored.
    if (socket.writable) hear(message)
  })
  const shake = handshake((answer) => void socket.write(answer))

  function receive(data: Buffer): void {
    const now = performance.now()
    if (now - budget.since > 1000) budget = { since: now, bytes: 0, messages: 0 }
    budget.bytes += data.length
    if (budget.bytes > most.bytesInSecond) throw new RangeError('That is more than a livestream has')
    const rest = shake(data)
    if (rest) reader.push(rest)
    bytesBefore = publisher ? 0 : bytesBefore + data.length
    if (bytesBefore > most.bytesBefore) throw new RangeError('That is much for who publishes nothing')
    if (socket.bytesRead - acknowledged >= windowBytes) {
      acknowledged = socket.bytesRead
      send(types.ack, u32(acknowledged % 2 ** 32), 0, 2)
    }
  }

  socket.setTimeout(deadlines.idle, () => socket.destroy())
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearTimeout(late)
    waiting.delete(socket)
    end(false)
  })
  socket.on('data', (data) => {
    try {
      receive(data)
    } catch {
      socket.destroy()
    }
  })
}

/** Returns what follows the handshake; null while it goes on. */
function handshake(answer: (bytes: Buffer) => void): (data: Buffer) => Buffer | null {
  let heard: Buffer = Buffer.alloc(0)
  let isAnswered = false
  let isDone = false
  return (data) => {
    if (isDone) return data
    heard = Buffer.concat([heard, data])
    if (heard.length > 0 && heard.readUInt8(0) !== 3) throw new RangeError('This is not RTMP')
    if (!isAnswered && heard.length >= 1 + handshakeBytes) {
      isAnswered = true
      const asked = heard.subarray(1, 1 + handshakeBytes)
      answer(Buffer.concat([Buffer.from([3]), Buffer.alloc(8), randomBytes(handshakeBytes - 8), asked]))
    }
    if (heard.length < 1 + 2 * handshakeBytes) return null
    isDone = true
    const rest = heard.subarray(1 + 2 * handshakeBytes)
    heard = Buffer.alloc(0)
    return rest
  }
}

const bigEndian = (value: number) => [value / 2 ** 24, value / 2 ** 16, value / 2 ** 8, value].map((part) => part & 255)

/** Events of a publisher over any protocol. */
export interface Publisher extends Pick<Ingest, 'configure' | 'video' | 'audio'> {
  /** `isMeant`: the publisher announced the stop; otherwise it may come back. */
  end(isMeant: boolean): void
}
