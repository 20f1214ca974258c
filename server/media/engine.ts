import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import type { StreamStatus } from '#server/ports/video/port'
import { type Cell, cellEncoder } from './cells.ts'
import type { Clock } from './clock.ts'
import { aacOf, aacSamples, aacSilence } from './h264.ts'
import { mediaServer } from './http.ts'
import type { EngineEvent, EngineRequest, EngineSettings, Ports } from './messages.ts'
import { openRecorder } from './recorder.ts'
import { type Publisher, rtmpServer } from './rtmp.ts'
import { createStream, endShownMs, type Stream } from './stream.ts'
import { videoTimescale } from './tracks.ts'
import { openRegistry, openWebrtc, type StreamRow } from './webrtc.ts'

/** Rows of three squares, from the top; a digit is five of them. */
const digits = ['75557', '26227', '71747', '71717', '55711', '74717', '74757', '71111', '75757', '75717']
const size = { width: 18, height: 12 }
const paper: Cell = [40, 120, 136]
const ink: Cell = [220, 128, 128]
const accent: Cell = [150, 90, 190]
const off: Cell = [16, 128, 128]
const bitsInRow = 16

/** Minutes and seconds, a square that walks, and below them the time in milliseconds as 48 squares, dark or light. */
export function clockPicture(columns: number, rows: number, milliseconds: number): Cell[] {
  const cells = Array.from<Cell>({ length: columns * rows }).fill(paper)
  const [left, top] = [Math.floor((columns - size.width) / 2), Math.floor((rows - size.height) / 2)]
  const paint = (column: number, row: number, cell: Cell): void => {
    const [x, y] = [left + column, top + row]
    if (x >= 0 && x < columns && y >= 0 && y < rows) cells[y * columns + x] = cell
  }
  const seconds = Math.floor(milliseconds / 1000)
  const shown = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0')).join('')
  for (const [place, digit] of [...shown].entries()) {
    const from = place * 4 + (place > 1 ? 2 : 0)
    for (const [row, pattern] of [...(digits[Number(digit)] ?? '')].entries())
      for (let bit = 0; bit < 3; bit++) if ((Number(pattern) >> (2 - bit)) & 1) paint(from + bit, row, ink)
  }
  for (const row of [1, 3]) paint(8, row, ink)
  paint(Math.floor((milliseconds % 1000) / (1000 / size.width)), 6, accent)
  for (const [index, bit] of [...milliseconds.toString(2).padStart(48, '0')].entries())
    paint(1 + (index % bitsInRow), 8 + Math.floor(index / bitsInRow), bit === '1' ? ink : off)
  return cells
}

/** In squares of 16 pixels. */
const clockMessageSize = { columns: 20, rows: 30 }
const framesInSecond = 15
const rate = 48_000

/** Publishes a clock, in silence; returns what ends it. */
function playClock(publisher: Publisher, clock: Clock, wall: () => number): () => void {
  const encoder = cellEncoder(clockMessageSize.columns, clockMessageSize.rows)
  publisher.configure({ video: encoder.config, audio: aacOf(rate, 2) })
  const begun = clock.now()
  let frame = 0
  let sounds = 0
  let callOff = () => {}
  function show(): void {
    const key = frame % framesInSecond === 0
    const data = encoder.encode(clockPicture(clockMessageSize.columns, clockMessageSize.rows, wall()), key)
    publisher.video({ time: Math.round((frame * videoTimescale) / framesInSecond), offset: 0, key, data })
    for (; sounds * aacSamples <= (frame / framesInSecond) * rate; sounds++)
      publisher.audio({ time: sounds * aacSamples, duration: aacSamples, data: aacSilence })
    frame++
    callOff = clock.after(Math.max(1, begun + (frame * 1_000) / framesInSecond - clock.now()), show)
  }
  show()
  return () => callOff()
}

/** What is kept of a stream key. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** 128 bits and more, in letters that every program takes. */
export const newKey = (host: string): string => `${host}-${randomBytes(20).toString('hex')}`

interface Keys<Value> {
  add(digest: string, value: Value): void
  remove(digest: string): void
  find(key: string): Value | null
}

const longest = 200

/** Finds the entry of a key by a secret hash, so that timing reveals no keys. */
export function createKeys<Value>(): Keys<Value> {
  const secret = randomBytes(32)
  const kept = new Map<string, { digest: Buffer; value: Value }>()
  const placeOf = (digest: string) => createHmac('sha256', secret).update(digest).digest('base64')
  return {
    add: (digest, value) => void kept.set(placeOf(digest), { digest: Buffer.from(digest, 'hex'), value }),
    remove: (digest) => void kept.delete(placeOf(digest)),
    find(key) {
      const digest = digestOf(key.slice(0, longest))
      const found = kept.get(placeOf(digest))
      return found && timingSafeEqual(found.digest, Buffer.from(digest, 'hex')) ? found.value : null
    },
  }
}

const againMilliseconds = 1_000

interface EngineOptions {
  settings: EngineSettings
  expected: readonly string[]
  clock: Clock
  wall(): number
  tell(event: EngineEvent): void
  /** When a port that was taken is had. */
  changed(): void
}

export interface Engine {
  readonly ports: Ports
  /** Why it listens at fewer ports than it should. */
  readonly problem: string | null
  answer(asked: EngineRequest): Promise<unknown>
  close(): Promise<void>
}

/** All livestreams of a node. What was live when the one before ended may come back within the grace. */
export async function openEngine({ settings, expected, clock, wall, tell, changed }: EngineOptions): Promise<Engine> {
  const streams = new Map<string, { row: StreamRow; stream: Stream; isEnded: boolean }>()
  const ofPlayback = new Map<string, Stream>()
  const keys = createKeys<{ stream: Stream; playbackId: string }>()
  const newId = () => `${settings.host}-${randomUUID()}`
  const registry = await openRegistry(join(settings.directory, 'streams'))
  const recorder = await openRecorder({
    directory: join(settings.directory, 'recordings'),
    wall,
    newId,
    tell: (asset) => tell({ type: 'asset.updated', asset }),
  })

  function open(row: StreamRow): void {
    const { streamId } = row
    const stream = createStream({
      ...settings,
      clock,
      wall,
      wasLive: row.isLive || expected.includes(streamId),
      record: row.record ? () => recorder.begin(streamId) : null,
      tell(what) {
        tell({ type: `ingest.${what}`, streamId })
        if (what === 'interrupted') return
        row.isLive = what === 'started'
        // A full disk: the stream goes on, and would not be expected back after a crash.
        if (streams.get(streamId)?.isEnded === false) registry.keep(row).catch(() => undefined)
      },
    })
    streams.set(streamId, { row, stream, isEnded: false })
    ofPlayback.set(row.playbackId, stream)
    keys.add(row.digest, { stream, playbackId: row.playbackId })
  }

  /** Forgets the stream once its end was shown, or at once if it is not shown. Recordings stay. */
  async function end(streamId: string, isShown: boolean): Promise<void> {
    const found = streams.get(streamId)
    if (!found) return
    if (found.isEnded) return isShown ? undefined : forget(streamId)
    found.isEnded = true
    keys.remove(found.row.digest)
    found.stream.end()
    if (isShown) clock.after(endShownMs, () => streams.get(streamId) === found && forget(streamId))
    else forget(streamId)
    await registry.remove(streamId)
  }

  function forget(streamId: string): void {
    const found = streams.get(streamId)
    if (!found) return
    found.stream.close()
    streams.delete(streamId)
    ofPlayback.delete(found.row.playbackId)
  }

  async function remove(streamId: string): Promise<void> {
    await end(streamId, false)
    await recorder.remove(streamId)
  }

  async function create(record: boolean) {
    const streamKey = newKey(settings.host)
    const [streamId, playbackId] = [newId(), newId()]
    const row = { streamId, playbackId, digest: digestOf(streamKey), record, isLive: false }
    await registry.keep(row)
    open(row)
    return { streamId, playbackId, streamKey }
  }

  /** Goes on with a stream of another engine, as if it had been live here. */
  async function adopt(stream: Pick<StreamRow, 'streamId' | 'playbackId' | 'digest' | 'record'>): Promise<void> {
    const found = streams.get(stream.streamId)
    if (found && !found.isEnded) return
    forget(stream.streamId)
    const row = { ...stream, isLive: true }
    await registry.keep(row)
    open(row)
  }

  for (const row of registry.rows) {
    if (row.isEnded) await registry.remove(row.streamId)
    else open(row)
  }

  /** Null for a wrong key, and where so many publish that no other may. */
  function publish(key: string, stop: () => void): Publisher | null {
    const stream = keys.find(key)?.stream
    if (!stream) return null
    const published = [...streams.values()].filter((one) => one.stream.isPublished()).length
    if (!stream.isPublished() && published >= settings.mostIngests) return null
    return stream.publish(stop)
  }

  function publishClock(streamId: string): void {
    const stream = streams.get(streamId)?.stream
    if (!stream || stream.isPublished()) return
    let end = () => {}
    const publisher = stream.publish(() => end())
    end = playClock(publisher, clock, wall)
  }

  const rtmp = rtmpServer({ publish })
  const http = mediaServer({
    live: (playbackId) => ofPlayback.get(playbackId)?.live() ?? null,
    isPlayback: (name) => ofPlayback.has(name),
    recording: recorder.path,
    webrtc: openWebrtc({
      ...{ settings, clock, publish },
      playbackOf: (key) => keys.find(key)?.playbackId ?? null,
      isLive(name) {
        const stream = ofPlayback.get(name)
        return stream ? stream.status().state === 'live' : null
      },
    }),
  })
  const httpPort = await listen(http, settings.httpPort, '127.0.0.1')
  const encoders = await listenWhenFree(rtmp, settings.rtmpPort, settings.rtmpHost, changed)

  return {
    get ports() {
      return { http: httpPort, rtmp: portOf(rtmp) }
    },
    get problem() {
      return encoders.problem()
    },
    async answer(asked) {
      switch (asked.ask) {
        case 'createStream':
          return create(asked.stream.record)
        case 'adoptStream':
          return adopt(asked.stream)
        case 'status':
          return asked.streamIds.flatMap((streamId): [string, StreamStatus][] => {
            const found = streams.get(streamId)
            return found ? [[streamId, found.stream.status()]] : []
          })
        case 'endStream':
          return end(asked.streamId, asked.isShown)
        case 'deleteStream':
          return remove(asked.streamId)
        case 'assets':
          return recorder.assets(asked.streamId)
        case 'publishClock':
          return publishClock(asked.streamId)
      }
    },
    async close() {
      encoders.close()
      http.close()
      http.closeAllConnections()
      for (const { stream } of streams.values()) stream.close()
      await recorder.flush()
    },
  }
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  return portOf(server) ?? port
}

const portOf = (server: Server): number | null => (server.address() as AddressInfo | null)?.port ?? null

/** Resolves when it listens or cannot; then it tries again until it does. */
async function listenWhenFree(server: Server, port: number, host: string, changed: () => void) {
  let problem: string | null = null
  let again: NodeJS.Timeout | undefined
  const attempt = () => void server.listen(port, host)
  const settled = new Promise<void>((resolve) => {
    server.on('listening', () => {
      const wasTaken = problem !== null
      problem = null
      resolve()
      if (wasTaken) changed()
    })
    server.on('error', (error) => {
      if (server.listening) return
      problem = String(error)
      again = setTimeout(attempt, againMilliseconds)
      resolve()
    })
  })
  attempt()
  await settled
  return {
    problem: () => problem,
    close() {
      clearTimeout(again)
      server.close()
    },
  }
}
