import type { ChildProcess } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { EngineSettings, FromEngine, ToEngine } from '#server/media/messages'
import { setChunkSize, writeMessage } from '#server/media/rtmp-chunks'
import { pictures, sounds, tone } from '#test/media/pictures'
import { publishRtmp, tagOfAudio, tagOfVideo } from '#test/media/rtmp-client'
import { build, programs } from '#test/support/programs'
import { percentiles } from './load.ts'
import { directoryOfRun, startProgram, stopAll } from './processes.ts'
import type { Report } from './report.ts'

interface Size {
  publishers: number
  viewers: number
  seconds: number
}

const framesInSecond = 30
/** So that a publisher sends some 2.5 Mbit/s. */
const bytesBeside = 10_000
const loopSeconds = 2
const warmMilliseconds = 5_000
const tickMilliseconds = 5
/** As OBS sends them. */
const chunkBytes = 4_096
const sound = { rate: 48_000, samples: 1_024 }
const ticksInSecond = 100
const megabyte = 2 ** 20
const setting = { nodes: 1, store: 'none' }
const Created = z.object({ streamId: z.string(), streamKey: z.string(), playbackId: z.string() })

/** The media engine in a process of its own: publishers by RTMP, all recorded, and viewers by HLS who fetch each part as it comes. */
export async function measureEngine(report: Report, { publishers, viewers, seconds }: Size): Promise<void> {
  const directory = directoryOfRun()
  const agents: Agent[] = []
  const over = new AbortController()
  try {
    const engine = await startEngine(directory, publishers)
    const streams: z.output<typeof Created>[] = []
    for (let nth = 0; nth < publishers; nth++)
      streams.push(Created.parse(await engine.ask({ ask: 'createStream', stream: { record: true } })))
    const publishing = publishAll(engine.ports.rtmp ?? 0, streams, over.signal)
    const figures = { requests: 0, bytes: 0, ages: [] as number[] }
    const watching = Array.from({ length: viewers }, (_, nth) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      agents.push(agent)
      const base = `http://127.0.0.1:${engine.ports.http}/hls/${streams[nth % streams.length]?.playbackId}`
      // The time in a part is read by one viewer of each stream.
      return watch(base, agent, nth < streams.length, figures, over.signal)
    })
    const failed = Promise.race([...watching, publishing]).then(() => Promise.reject(new Error('Somebody left early')))
    await Promise.race([sleep(warmMilliseconds), failed])
    Object.assign(figures, { requests: 0, bytes: 0, ages: [] })
    const before = { ...engine.usage(), at: performance.now() }
    await Promise.race([sleep(seconds * 1_000), failed])
    const after = engine.usage()
    const took = (performance.now() - before.at) / 1_000
    const tell = (name: string, value: number, target: number) =>
      report.tell({
        ...setting,
        name: `${publishers} publishers by RTMP, ${viewers} viewers by HLS: ${name}`,
        value,
        target,
      })
    const { p50, p99 } = percentiles(figures.ages)
    tell('CPU of the engine, % of a core', ((after.cpuSeconds - before.cpuSeconds) / took) * 100, 60)
    tell('MB of memory', after.megabytes, 400)
    tell('a picture published to its part at a viewer, p50 ms', p50, 500)
    tell('a picture published to its part at a viewer, p99 ms', p99, 1_000)
    const megabits = (figures.bytes * 8) / 1e6 / took
    console.error(
      `engine: ${Math.round(figures.requests / took)} requests/s, ${Math.round(megabits)} Mbit/s to viewers`,
    )
  } finally {
    over.abort()
    for (const agent of agents) agent.destroy()
    await stopAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function startEngine(directory: string, mostIngests: number) {
  build()
  const settings: EngineSettings = {
    ...{ host: '0a0b0c0d', directory, httpPort: 0, rtmpHost: '127.0.0.1', rtmpPort: 0 },
    ...{ partMs: 330, segmentMs: 2_000, graceMs: 30_000, aac: true, mostIngests, mostViewers: 300, memoryMb: 1_024 },
    peers: { announced: [], udpPorts: null, address: '127.0.0.1' },
  }
  const child = startProgram(0, [process.execPath, '--max-old-space-size=256', programs.media], {})
  const answers = new Map<number, (answer: unknown) => void>()
  let asked = 0
  const send = (message: ToEngine) => child.send(message)
  const ports = await new Promise<Extract<FromEngine, { ready: unknown }>['ready']>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The engine ended with ${code}`)))
    child.on('message', (message: FromEngine) => {
      if ('ready' in message) resolve(message.ready)
      else if ('cannotStart' in message) reject(new Error(message.cannotStart))
      else if ('id' in message) answers.get(message.id)?.('answer' in message ? message.answer : null)
    })
    send({ start: settings, expected: [] })
  })
  return {
    ports,
    usage: () => usageOf(child),
    ask: (what: { ask: 'createStream'; stream: { record: boolean } }) =>
      new Promise<unknown>((resolve) => {
        const id = ++asked
        answers.set(id, resolve)
        send({ id, ...what })
      }),
  }
}

/** As Linux tells it. */
function usageOf({ pid }: ChildProcess): { cpuSeconds: number; megabytes: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  const [, kilobytes = '0'] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return {
    cpuSeconds: ((user ?? 0) + (system ?? 0)) / ticksInSecond,
    megabytes: (Number(kilobytes) * 1_024) / megabyte,
  }
}

/** A unit of the picture that decoders leave out, with the time of day in it. */
function stamped(picture: Uint8Array): Buffer {
  const text = Buffer.alloc(bytesBeside, `at=${Date.now()};`, 'latin1')
  const head = Buffer.alloc(5)
  head.writeUInt32BE(text.length + 1)
  head.writeUInt8(12, 4)
  return Buffer.concat([picture, head, text])
}

/** Publishes to all streams until it is told to stop. */
async function publishAll(port: number, streams: readonly { streamKey: string }[], signal: AbortSignal): Promise<void> {
  const { config, frames } = pictures(framesInSecond * loopSeconds, { fps: framesInSecond, keyEvery: framesInSecond })
  const [silence] = sounds(1)
  const clients = await Promise.all(
    streams.map(async ({ streamKey }) => {
      const client = await publishRtmp(port, streamKey)
      if ((await client.answer) !== 'NetStream.Publish.Start') throw new Error('The engine takes no publisher')
      client.configure({ video: config, audio: tone })
      const size = Buffer.alloc(4)
      size.writeUInt32BE(chunkBytes)
      client.socket.write(writeMessage({ type: setChunkSize, stream: 0, time: 0, body: size }, 2, 128))
      return client
    }),
  )
  const began = performance.now()
  let [frame, sounded] = [0, 0]
  while (!signal.aborted) {
    const seconds = (performance.now() - began) / 1_000
    for (; frame / framesInSecond <= seconds; frame++) {
      const picture = frames[frame % frames.length]
      if (!picture) throw new Error('There is no picture')
      const body = tagOfVideo({ ...picture, data: stamped(picture.data) })
      send(9, Math.round((frame * 1_000) / framesInSecond), body, 6)
    }
    for (; (sounded * sound.samples) / sound.rate <= seconds; sounded++)
      send(
        8,
        Math.round((sounded * sound.samples * 1_000) / sound.rate),
        tagOfAudio(silence?.data ?? Buffer.alloc(0)),
        4,
      )
    await sleep(tickMilliseconds)
  }
  for (const { socket } of clients) socket.destroy()

  function send(type: number, time: number, body: Buffer, on: number): void {
    const message = writeMessage({ type, stream: 1, time, body }, on, chunkBytes)
    for (const { socket } of clients) socket.write(message)
  }
}

/** Reads the playlist as it changes, and each new part, as players do. */
async function watch(
  base: string,
  agent: Agent,
  readsTime: boolean,
  figures: { requests: number; bytes: number; ages: number[] },
  signal: AbortSignal,
): Promise<void> {
  const ask = async (path: string): Promise<Buffer> => {
    const { status, body } = await fetched(`${base}/${path}`, agent)
    if (status !== 200) throw new Error(`${path} was answered ${status}`)
    figures.requests++
    figures.bytes += body.length
    return body
  }
  let playlist = await firstOf(base, agent, signal)
  let known = partsOf(playlist).at(-1) ?? { sequence: 0, part: 0 }
  while (!signal.aborted) {
    const [, sequence, part] = /PRELOAD-HINT:TYPE=PART,URI="(\d+)\.(\d+)\.m4s"/.exec(playlist) ?? []
    playlist = (await ask(`index.m3u8?_HLS_msn=${sequence}&_HLS_part=${part}`)).toString()
    for (const next of partsOf(playlist).filter((one) => isAfter(one, known))) {
      known = next
      const data = await ask(`${next.sequence}.${next.part}.m4s`)
      if (!readsTime) continue
      const now = Date.now()
      const stamps = new Set([...data.toString('latin1').matchAll(/at=(\d{13});/g)].map(([, stamp]) => Number(stamp)))
      for (const stamp of stamps) figures.ages.push(now - stamp)
    }
  }
}

/** There is none before somebody publishes. */
async function firstOf(base: string, agent: Agent, signal: AbortSignal): Promise<string> {
  for (;;) {
    const { status, body } = await fetched(`${base}/index.m3u8`, agent)
    if (status === 200 || signal.aborted) return body.toString()
    await sleep(100)
  }
}

interface ListedPart {
  sequence: number
  part: number
}
const partsOf = (playlist: string): ListedPart[] =>
  [...playlist.matchAll(/EXT-X-PART:[^\n]*URI="(\d+)\.(\d+)\.m4s"/g)].map(([, sequence, part]) => ({
    sequence: Number(sequence),
    part: Number(part),
  }))
const isAfter = (one: ListedPart, other: ListedPart) =>
  one.sequence > other.sequence || (one.sequence === other.sequence && one.part > other.part)

function fetched(url: string, agent: Agent): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }))
      answer.once('error', reject)
    }).once('error', reject)
  })
}
