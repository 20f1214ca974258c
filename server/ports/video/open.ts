import { randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { makeDirectory } from '#server/kernel/make-directory'
import type { EngineSettings } from '#server/media/messages'
import { hostedVideo } from './hosts.ts'
import type { MediaHosts, Video } from './port.ts'
import { addressesAt, selfHostedVideo } from './selfhosted.ts'

interface VideoOptions {
  publicUrl: string
  engine: Omit<EngineSettings, 'host' | 'httpPort' | 'rtmpPort'>
  rtmp: { host: string | undefined; port: number | undefined; url: string | undefined }
}

interface Shared {
  hosts: MediaHosts
  nodeUrl: URL | null
  otherwiseAt: string | null
  secrets: readonly Uint8Array[]
  now(): number
  /** The right to a directory, which one process has at a time; null while another has it. */
  lock(directory: string): Promise<{ release(): Promise<void> } | null>
}

export interface OpenedVideo {
  video: Video
  adapter: string
  /** What a start says of it. */
  why: string
  close(): Promise<void>
}

const adapter = 'a process'
const usualRtmpPort = 1935

const rtmpUrlOf = ({ publicUrl, rtmp }: VideoOptions, port: number) =>
  rtmp.url ?? `rtmp://${new URL(publicUrl).hostname}:${port}`

async function start(options: VideoOptions, rtmpPort: number) {
  const { publicUrl, engine } = options
  const host = await hostIn(engine.directory)
  const rtmpUrl = rtmpUrlOf(options, rtmpPort)
  return { host, rtmpUrl, video: selfHostedVideo({ ...engine, host, httpPort: 0, rtmpPort }, { publicUrl, rtmpUrl }) }
}

/** Livestreams by an engine beside this server, which starts while the server does. */
export async function openSelfHosted(options: VideoOptions): Promise<OpenedVideo> {
  const { engine, rtmp } = options
  await refuseHost(rtmp.host)
  const usual = await freePort(usualRtmpPort, engine.rtmpHost)
  const port = rtmp.port ?? usual ?? (await freePort(0, engine.rtmpHost)) ?? usualRtmpPort
  const isFree = (await freePort(port, engine.rtmpHost)) !== null
  const { video, rtmpUrl } = await start(options, port)
  const taken = `RTMP_PORT ${port} cannot be had now: browsers alone publish`
  const why = `kept in ${engine.directory}; ${isFree ? `OBS publishes to ${rtmpUrl}/live` : taken}`
  return { video, adapter, why, close: video.close }
}

/** The same on several nodes: of the processes that share a directory, one has the engine. Another takes over at its end. */
export async function openHosts(options: VideoOptions, { lock, ...shared }: Shared): Promise<OpenedVideo> {
  const { publicUrl, engine, rtmp } = options
  await refuseHost(rtmp.host)
  // A port that the process before still has is waited for.
  const port = rtmp.port ?? usualRtmpPort
  const video = await hostedVideo({
    ...shared,
    home: await hostIn(engine.directory),
    addresses: addressesAt({ publicUrl, rtmpUrl: rtmpUrlOf(options, port) }),
    async openLocal() {
      const held = await lock(engine.directory)
      if (!held) return null
      const { host: id, rtmpUrl, video: local } = await start(options, port)
      const close = () => local.close().finally(() => held.release())
      return { id, rtmpUrl, video: local, adopt: local.adopt, close }
    },
  })
  const reached = shared.nodeUrl
    ? `other nodes ask at ${shared.nodeUrl.origin}`
    : 'NODE_URL is not set: with a second node, going live answers 503'
  const lacks = video.lacks()
  const why = lacks ? `${lacks}: going live answers 503` : `kept in ${engine.directory}, by one process; ${reached}`
  return { video, adapter, why, close: video.close }
}

/** Throws if no port of a host is usable: its name is unknown, or it is another machine. */
async function refuseHost(host: string | undefined): Promise<void> {
  if (host === undefined) return
  await portAt(0, host).catch((error: unknown) => {
    throw Object.assign(error as Error, { variables: 'RTMP_' })
  })
}

/** Null where it cannot be listened at. */
const freePort = (port: number, host: string): Promise<number | null> => portAt(port, host).catch(() => null)

function portAt(port: number, host: string): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, exclusive: true }, () => {
      const { port: found } = server.address() as AddressInfo
      server.close(() => resolve(found))
    })
  })
}

/** The name of what is kept in a directory; ids of its streams begin with it. */
async function hostIn(directory: string): Promise<string> {
  const file = join(directory, 'host')
  try {
    await makeDirectory(directory)
    await writeFile(file, randomBytes(4).toString('hex'), { flag: 'wx', mode: 0o600, flush: true }).catch(ifThere)
    if ((await stat(file)).isFile()) return await readFile(file, 'utf8')
    throw Object.assign(new Error('no regular file'), { code: 'EINVAL', syscall: 'read', path: file })
  } catch (error) {
    throw Object.assign(error as Error, { variable: 'MEDIA_DIR' })
  }
}

function ifThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
