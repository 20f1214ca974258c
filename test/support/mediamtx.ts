import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import type { MediaMtxConfig } from '#server/ports/video/mediamtx'
import type { Video } from '#server/ports/video/port'
import { openProvider, type Provider } from './providers.ts'

/** How paths are configured in the file that installations use. */
const { paths: configured } = z
  .object({ paths: z.record(z.string(), z.object({ record: z.boolean() })) })
  .parse(parse(readFileSync('deploy/mediamtx.yml', 'utf8')))
const patterns = Object.entries(configured).map(([name, { record }]) => ({ name: new RegExp(name.slice(1)), record }))

interface Published {
  name: string
  source: { type: string; id: string }
  since: string
}

interface Segment {
  start: string
  duration: number
}

/** What it asks before somebody does something, as it sends it. */
export interface Asks {
  user: string
  password: string
  token: string
  ip: string
  action: string
  path: string
  protocol: string
  id: string
  query: string
  userAgent: string
}

const kinds: Readonly<Record<string, string>> = {
  rtmpconns: 'rtmpConn',
  webrtcsessions: 'webRTCSession',
}

/**
 * MediaMTX 1.20, as far as its control API, the list of its playback server and its HTTP authentication go. It shows nothing, and publishing is
 * a word.
 */
export async function openMediaMtx() {
  const published = new Map<string, Published>()
  const recordings = new Map<string, Segment[]>()
  const says = {
    published,
    recordings,
    /** What it was asked, as `GET /v3/…`, in order. */
    calls: [] as string[],
    /** Authorizes requests, as the server at its `authHTTPAddress` does. */
    authority: (async () => false) as (asks: Asks) => Promise<boolean>,
    /** That is this adapter, without a server around it. */
    askVideo({ webhook }: Video) {
      provider.authority = (asks) =>
        webhook?.(Buffer.from(JSON.stringify(asks)), {}).then(
          () => true,
          () => false,
        ) ?? Promise.resolve(false)
    },
    /** How it answers in place of everything. */
    instead: null as { status: number; body: unknown } | null,
    /** As versions before 1.16 say it. */
    isOld: false,
    /** It removes no files. */
    isReadOnly: false,
    /** What happens as soon as somebody was disconnected. */
    disconnected: null as (() => void) | null,
    /** It forgets everybody who publishes, as it does when it starts. */
    restart: () => published.clear(),
    /** Publishes to an address of RTMP or of WHIP, with a bearer token where one is given. Throws where it is refused. */
    async publish(address: string, token = '') {
      const { protocol, pathname, search } = new URL(address)
      const isRtmp = protocol === 'rtmp:'
      const name = isRtmp ? pathname.slice(1) : pathname.slice(1).replace(/\/whip$/, '')
      const pattern = patterns.find((one) => one.name.test(name))
      const asks = { action: 'publish', path: name, query: search.slice(1), token }
      if (!pattern || !(await allows(isRtmp ? { ...asks, protocol: 'rtmp' } : { ...asks, protocol: 'webrtc' })))
        throw new Error('The publisher is refused')
      const source = { type: isRtmp ? 'rtmpConn' : 'webRTCSession', id: randomUUID() }
      const since = new Date().toISOString()
      published.set(name, { name, source, since })
      if (pattern.record) recordings.set(name, [...(recordings.get(name) ?? []), { start: since, duration: 12.5 }])
    },
    /** Ends the publication of this path. */
    leave: (name: string) => void published.delete(name),
    allows,
  }

  function allows(asks: Partial<Asks>): Promise<boolean> {
    const none = {
      user: '',
      password: '',
      token: '',
      ip: '127.0.0.1',
      path: '',
      protocol: '',
      query: '',
      userAgent: '',
    }
    return provider.authority({ ...none, action: '', id: randomUUID(), ...asks }).catch(() => false)
  }

  const refused = (status: number, error: string) => ({ status, body: { status: 'error', error } })
  const done = { status: 200, body: { status: 'ok' } }
  const provider: Provider & typeof says = Object.assign(
    await openProvider(async (path, _body, bearer = '', method = '') => {
      provider.calls.push(`${method} ${path}`)
      if (provider.instead) return provider.instead
      const { pathname, searchParams } = new URL(path, 'http://mediamtx.test')
      if (pathname === '/list') return listOf(searchParams.get('path') ?? '')
      if (!(await allows({ action: 'api', token: bearer }))) return refused(401, 'authentication error')
      return answerTo(method, pathname, searchParams)
    }),
    says,
  )
  return provider

  function answerTo(method: string, pathname: string, searchParams: URLSearchParams) {
    const [, version, kind = '', what = '', ...rest] = pathname.split('/')
    const name = rest.join('/')
    const asked = version === 'v3' ? `${method} ${kind}/${what}` : ''
    if (asked === 'GET paths/list') return page(Number(searchParams.get('itemsPerPage') ?? 100))
    if (asked === 'GET paths/get') {
      const found = published.get(name)
      return found ? { status: 200, body: shown(found) } : refused(404, 'path not found')
    }
    if (asked === 'GET recordings/get') {
      const segments = (recordings.get(name) ?? []).map(({ start }) => ({ start }))
      return { status: 200, body: { name, segments } }
    }
    if (asked === 'DELETE recordings/deletesegment') return removed(searchParams)
    const type = method === 'POST' && what === 'kick' ? kinds[kind] : undefined
    if (type) return disconnect(type, name)
    return { status: 404, body: '404 page not found' }
  }

  function page(size: number) {
    const all = [...published.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
    const items = all.slice(0, size).map(shown)
    return { status: 200, body: { itemCount: all.length, pageCount: Math.ceil(all.length / size), items } }
  }

  function shown({ name, source, since }: Published) {
    const old = { ready: true, readyTime: since }
    const is = { available: true, availableTime: since, online: true, onlineTime: since }
    return { name, confName: '~^live', ...old, ...(provider.isOld ? {} : is), source, tracks: ['H264'], readers: [] }
  }

  function disconnect(type: string, id: string) {
    const found = [...published.values()].find(({ source }) => source.type === type && source.id === id)
    if (!found) return refused(404, 'connection not found')
    published.delete(found.name)
    provider.disconnected?.()
    return done
  }

  function removed(searchParams: URLSearchParams) {
    const name = searchParams.get('path') ?? ''
    const before = recordings.get(name) ?? []
    const after = before.filter(({ start }) => provider.isReadOnly || start !== searchParams.get('start'))
    recordings.set(name, after)
    return after.length < before.length ? done : refused(400, 'no such file or directory')
  }

  function listOf(name: string) {
    const spans = recordings.get(name) ?? []
    return spans.length > 0
      ? { status: 200, body: spans.map((span) => ({ ...span, url: 'http://mediamtx.test/get' })) }
      : refused(404, 'no recording segments found')
  }
}

export type MediaMtx = Awaited<ReturnType<typeof openMediaMtx>>

/** Keys of an installation, newest first. */
export const secretsOfTest: readonly Uint8Array[] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]

export const configOfMediaMtx = ({ url }: MediaMtx, graceMs = 30_000): MediaMtxConfig => ({
  apiUrl: `${url}/`,
  listUrl: url,
  webrtcUrl: 'https://media.test/webrtc/',
  hlsUrl: 'https://hls.test',
  playbackUrl: 'https://media.test/recorded',
  rtmpUrl: 'rtmp://media.test:1935/',
  graceMs,
})

/** How an adapter that is tested asks, as often as it can, and a clock that a test sets ahead. */
export function paceOfTest() {
  const pace = {
    pollMilliseconds: 20,
    keptMilliseconds: 10_000,
    ahead: 0,
    clock: () => performance.now() + pace.ahead,
  }
  return pace
}
