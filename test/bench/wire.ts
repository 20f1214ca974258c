import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

const readBytes = 256 * 1_024
const opcodes = { text: 1, close: 8 }
const final = 0x80
const masked = 0x80

/** One buffer serves every connection, as its bytes are processed before the next read. */
const shared = Buffer.allocUnsafe(readBytes)

interface Listener {
  opened(): void
  /** The bytes are valid only until this returns. */
  message(bytes: Buffer): void
  closed(): void
}

/**
 * A minimal WebSocket client, so that the driver is not the bottleneck when a server is at its limit: text frames of a server that
 * neither splits nor compresses them.
 */
export class Wire {
  readonly #socket: Socket
  readonly #listener: Listener
  #isOpen = false
  #partial: Buffer = Buffer.alloc(0)

  constructor(url: URL, listener: Listener) {
    this.#listener = listener
    const onread = { buffer: shared, callback: (length: number) => this.#read(shared.subarray(0, length)) }
    this.#socket = connect({ port: Number(url.port), host: url.hostname, noDelay: true, onread })
    this.#socket.on('error', () => {})
    this.#socket.once('close', () => listener.closed())
    this.#socket.write(
      [
        `GET ${url.pathname}${url.search} HTTP/1.1`,
        `Host: ${url.host}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
        '\r\n',
      ].join('\r\n'),
    )
  }

  /** Masked with zeros, which leaves the text unchanged. */
  send(text: string): void {
    const length = Buffer.byteLength(text)
    const head = length < 126 ? 6 : 8
    const frame = Buffer.allocUnsafe(head + length)
    frame[0] = final | opcodes.text
    frame[1] = masked | (length < 126 ? length : 126)
    if (length >= 126) frame.writeUInt16BE(length, 2)
    frame.writeUInt32BE(0, head - 4)
    frame.write(text, head)
    this.#socket.write(frame)
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(bytes: Buffer): boolean {
    const all = this.#partial.length > 0 ? Buffer.concat([this.#partial, bytes]) : bytes
    let at = this.#isOpen ? 0 : this.#opened(all)
    for (let frame = frameAt(all, at); frame; frame = frameAt(all, at)) {
      at = frame.end
      if (frame.opcode === opcodes.close) this.#socket.destroy()
      else if (frame.opcode === opcodes.text) this.#listener.message(all.subarray(frame.start, frame.end))
    }
    this.#partial = Buffer.from(all.subarray(at))
    return true
  }

  /** The offset of the first frame after the answer to the handshake, which arrives in one piece. */
  #opened(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    this.#isOpen = end > 0 && bytes.toString('latin1', 0, 12) === 'HTTP/1.1 101'
    if (this.#isOpen) this.#listener.opened()
    else this.#socket.destroy()
    return this.#isOpen ? end + 4 : bytes.length
  }
}

function frameAt(bytes: Buffer, at: number): { opcode: number; start: number; end: number } | null {
  if (bytes.length < at + 2) return null
  const opcode = (bytes[at] ?? 0) & 0x0f
  const short = bytes[at + 1] ?? 0
  const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10)
  if (bytes.length < start) return null
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : bytes.readUInt32BE(at + 6)
  return bytes.length < start + length ? null : { opcode, start, end: start + length }
}
