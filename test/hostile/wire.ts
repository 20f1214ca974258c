import WebSocket from 'ws'
import { dial } from '#test/support/raw-connection'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** The bytes of a request exactly as given, for what an HTTP client would put right or refuse to send. */
export function sendBytes(url: string, bytes: string | Buffer, timeoutMilliseconds = 10_000): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = dial(url)
    const parts: Buffer[] = []
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no answer in ${timeoutMilliseconds} ms`))
    }, timeoutMilliseconds)
    socket.on('data', (part: Buffer) => parts.push(part))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(readAnswer(Buffer.concat(parts).toString()))
    })
    socket.write(bytes)
  })
}

function readAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end < 0 ? undefined : end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return {
    status: Number(first.split(' ')[1] ?? 0),
    headers,
    body: end < 0 ? '' : unchunk(text.slice(end + 4), headers),
  }
}

const unchunk = (body: string, headers: Record<string, string>) =>
  headers['transfer-encoding'] === 'chunked' ? body.replace(/^[0-9a-f]+\r\n|\r\n[0-9a-f]+\r\n(\r\n)?/g, '') : body

/** A request that closes the connection after its answer. */
export const request = (line: string, headers: readonly string[] = [], body: string | Buffer = '') =>
  Buffer.concat([
    Buffer.from([`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n')),
    typeof body === 'string' ? Buffer.from(body) : body,
  ])

export const jsonRequest = (line: string, token: string, body: string | Buffer, headers: readonly string[] = []) =>
  request(
    line,
    [
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...headers,
    ],
    body,
  )

export interface Ack {
  ok: boolean
  error?: { code: string; message: string; status: number; retryAfter?: number }
  data?: unknown
}

export type Wire = Awaited<ReturnType<typeof openWire>>

/** Socket.IO frames written by hand. */
export async function openWire(url: string, namespace: string, auth: unknown, headers = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`, {
    headers,
    perMessageDeflate: true,
  })
  const heard: string[] = []
  const acks = new Map<string, (ack: Ack) => void>()
  const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)))
  let next = 0
  let onConnected: (frame: string) => void = () => undefined
  const connected = new Promise<string>((resolve) => {
    onConnected = resolve
  })
  socket.on('error', () => undefined)
  socket.on('message', (data) => {
    const frame = String(data)
    if (frame === '2') return socket.send('3')
    heard.push(frame)
    if (/^4[04]/.test(frame)) onConnected(frame)
    const [, id, body] = /^43[^,[]*,(\d+)([\s\S]*)$/.exec(frame) ?? []
    if (id !== undefined && body !== undefined) {
      acks.get(id)?.((JSON.parse(body) as [Ack])[0])
      acks.delete(id)
    }
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('unexpected-response', (_request, response) => reject(new Error(`refused: ${response.statusCode}`)))
    void closed.then((code) => reject(new Error(`closed before it was open: ${code}`)))
  })
  if (auth !== undefined) socket.send(`40${namespace},${JSON.stringify(auth)}`)
  const answer = auth === undefined ? '' : await Promise.race([connected, closed.then((code) => `closed: ${code}`)])
  const wire = {
    socket,
    heard,
    closed,
    /** The frame that answered the connection to the namespace. */
    answer,
    send: (frame: string | Buffer) => socket.send(frame),
    /** One event, its arguments as they stand; null where no acknowledgement comes in time. */
    ask(event: string, args: string, timeoutMilliseconds = 10_000): Promise<Ack | null> {
      const id = String(next++)
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          acks.delete(id)
          resolve(null)
        }, timeoutMilliseconds)
        acks.set(id, (ack) => {
          clearTimeout(timer)
          resolve(ack)
        })
        socket.send(`42${namespace},${id}[${JSON.stringify(event)}${args === '' ? '' : `,${args}`}]`)
      })
    },
    /** The same, as often as the connection has asked too much in this second. */
    async askInTime(event: string, args: string): Promise<Ack | null> {
      for (;;) {
        const ack = await wire.ask(event, args)
        if (ack?.error?.retryAfter !== 1) return ack
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    close: () => socket.terminate(),
  }
  return wire
}
