import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  type EngineEvent,
  type EngineRequest,
  type EngineSettings,
  type FromEngine,
  isPlayable,
  type Ports,
  type RecordedAsset,
  type ToEngine,
} from '#server/media/messages'
import { AppError } from '#shared/errors'
import type { CreatedStream, HeldStream, StreamStatus, Video, VideoAddresses, VideoAsset, VideoEvent } from './port.ts'

export interface SelfHostedVideo extends Video {
  /** Where the engine listens now; null while it does not run. */
  ports(): Ports | null
  pid(): number | null
  /** Why it does not start, or listens at fewer ports than it should. */
  problem(): string | null
  /** Continues a stream of another engine, for a publisher within the grace. */
  adopt(stream: HeldStream): Promise<void>
  close(): Promise<void>
}

/** Where browsers and encoders reach this installation. */
interface SelfHostedUrls {
  publicUrl: string
  rtmpUrl: string
}

const below = (url: string) => url.replace(/\/+$/, '')

export function addressesAt({ publicUrl, rtmpUrl }: SelfHostedUrls): VideoAddresses {
  const at = below(publicUrl)
  return {
    whip: (streamKey) => `${at}/webrtc/${streamKey}`,
    rtmp: (streamKey) => `${below(rtmpUrl)}/live/${streamKey}`,
    hls: (playbackId) => `${at}/hls/${playbackId}/index.m3u8`,
    whep: (playbackId) => `${at}/webrtc/${playbackId}`,
  }
}

/** From the file of the server, as `scripts/build.mjs` puts them. */
const built = '../media/main.js'
/** What parses DTLS makes its functions as it is loaded, so code may be made of strings there. */
const limits = ['--max-old-space-size=256']
const deadlines = { start: 60_000, answer: 10_000, silence: 15_000, close: 5_000 }
const again = { first: 250, most: 30_000, steady: 60_000 }

/** The media engine in a process beside the server, which outlives it and starts it again. */
export function selfHostedVideo(settings: EngineSettings, { publicUrl, rtmpUrl }: SelfHostedUrls): SelfHostedVideo {
  const hearers = new Set<(event: VideoEvent) => void>()
  const asked = new Map<number, { resolve(answer: unknown): void; reject(error: unknown): void }>()
  const states = new Map<string, string>()
  let engine: ChildProcess | null = null
  let ports: Ports | null = null
  let problem: string | null = null
  let isClosed = false
  let lastId = 0
  let wait = again.first
  let starting: NodeJS.Timeout | undefined

  /** Unchanged states are not reported again, such as after a restart. */
  function tell(event: EngineEvent): void {
    if (event.type !== 'asset.updated') {
      if ((states.get(event.streamId) ?? 'ingest.stopped') === event.type) return
      if (event.type === 'ingest.stopped') states.delete(event.streamId)
      else states.set(event.streamId, event.type)
    }
    const reported = event.type === 'asset.updated' ? { ...event, asset: reached(event.asset) } : event
    for (const hear of hearers) hear(reported)
  }

  function start(): void {
    const isBuilt = !import.meta.url.endsWith('.ts')
    const one = fork(new URL(isBuilt ? built : '../../media/main.ts', import.meta.url), {
      execArgv: [...limits, ...(isBuilt ? [] : ['--import', 'tsx'])],
      env: {},
      serialization: 'advanced',
      stdio: 'ignore',
    })
    const startedAt = performance.now()
    engine = one
    one.on('error', () => undefined)
    one.on('message', (message: FromEngine) => {
      clearTimeout(silent)
      silent = setTimeout(end, deadlines.silence)
      hear(message)
    })
    one.once('exit', () => {
      clearTimeout(silent)
      if (engine !== one) return
      ;[engine, ports] = [null, null]
      for (const { reject } of asked.values()) reject(new AppError('SERVICE_UNAVAILABLE'))
      asked.clear()
      for (const [streamId, state] of states)
        if (state === 'ingest.started') tell({ type: 'ingest.interrupted', streamId })
      if (isClosed) return
      if (performance.now() - startedAt > again.steady) wait = again.first
      starting = setTimeout(start, wait)
      wait = Math.min(again.most, wait * 2)
    })
    const end = () => one.kill('SIGKILL')
    let silent = setTimeout(end, deadlines.start)
    const { http, rtmp } = kept
    send(one, { start: { ...settings, httpPort: http, rtmpPort: rtmp }, expected: [...states.keys()] })
  }

  /** The same addresses reach a restarted engine. */
  const kept = { http: settings.httpPort, rtmp: settings.rtmpPort }

  function hear(message: FromEngine): void {
    if ('ready' in message) {
      ;[ports, problem] = [message.ready, message.problem]
      kept.http = ports.http
      kept.rtmp = ports.rtmp ?? kept.rtmp
    } else if ('cannotStart' in message) problem = message.cannotStart
    else if ('event' in message) tell(message.event)
    else if ('id' in message) {
      const waiting = asked.get(message.id)
      asked.delete(message.id)
      if ('failed' in message) waiting?.reject(new AppError('SERVICE_UNAVAILABLE', { cause: message.failed }))
      else waiting?.resolve(message.answer)
    }
  }

  function ask<Answer>(what: EngineRequest): Promise<Answer> {
    const one = engine
    if (!one || !ports) return Promise.reject(new AppError('SERVICE_UNAVAILABLE'))
    const id = ++lastId
    return new Promise<Answer>((resolve, reject) => {
      const late = setTimeout(() => {
        asked.delete(id)
        reject(new AppError('SERVICE_UNAVAILABLE'))
      }, deadlines.answer)
      const end = (act: () => void) => {
        clearTimeout(late)
        act()
      }
      asked.set(id, {
        resolve: (answer) => end(() => resolve(answer as Answer)),
        reject: (error) => end(() => reject(error)),
      })
      send(one, { id, ...what })
    })
  }

  const at = below(publicUrl)
  const reached = (asset: RecordedAsset): VideoAsset => {
    const url = isPlayable(asset) ? `${at}/recordings/${asset.assetId}.mp4` : null
    return { ...asset, playbackId: url && asset.assetId, playbackUrl: url, downloadUrl: url }
  }

  start()
  return {
    addresses: addressesAt({ publicUrl, rtmpUrl }),
    createStream: (stream) => ask<CreatedStream>({ ask: 'createStream', stream: { record: stream.record } }),
    status: async (streamIds) => new Map(await ask<[string, StreamStatus][]>({ ask: 'status', streamIds })),
    endStream: (streamId, isShown = true) => ask<undefined>({ ask: 'endStream', streamId, isShown }),
    deleteStream: (streamId) => ask<undefined>({ ask: 'deleteStream', streamId }),
    assets: async (streamId) => (await ask<RecordedAsset[]>({ ask: 'assets', streamId })).map(reached),
    originOf: async () => ports && { host: '127.0.0.1', port: ports.http, headers: {} },
    publishClock: (streamId) => ask<undefined>({ ask: 'publishClock', streamId }),
    subscribe(hear) {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
    ports: () => ports,
    pid: () => engine?.pid ?? null,
    problem: () => problem,
    adopt: ({ streamId, playbackId, digest, record }) =>
      ask<undefined>({ ask: 'adoptStream', stream: { streamId, playbackId, digest, record } }),
    async close() {
      isClosed = true
      clearTimeout(starting)
      const one = engine
      if (!one || one.exitCode !== null) return
      const ended = once(one, 'exit')
      const late = setTimeout(() => one.kill('SIGKILL'), deadlines.close)
      send(one, { close: true })
      await ended
      clearTimeout(late)
    },
  }
}

/** Where the process has ended, its end is heard as well. */
const send = (to: ChildProcess, message: ToEngine): void => void to.send(message, () => undefined)
