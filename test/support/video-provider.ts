import { createHmac, randomUUID } from 'node:crypto'
import type { LivepeerConfig } from '#server/ports/video/livepeer'
import { openProvider, type Provider } from './providers.ts'

export const studioKey = 'the key of the account'
export const studioSecret = 'the secret of the webhook'

interface Stream {
  id: string
  name: string
  streamKey: string
  playbackId: string
  record: boolean
  isActive: boolean
  lastSeen: number
  terminatedAt: number
}

interface Session {
  id: string
  parentId: string
  createdAt: number
  lastSeen: number
  sourceSegmentsDuration: number
  recordingStatus: string
  playbackId: string
  recordingUrl?: string
  mp4Url?: string
}

/** How an adapter that is tested watches: as often as it can, or only where it is asked or called. */
export const often = { pollMilliseconds: 20, keptMilliseconds: 10_000 }
export const never = { pollMilliseconds: 3_600_000, keptMilliseconds: 10_000 }

const four = () => randomUUID().slice(0, 4)

/** Livepeer Studio, as far as streams and their recordings go. It shows nothing, and publishing is a word. */
export async function openStudio() {
  const streams = new Map<string, Stream>()
  const sessions: Session[] = []
  const assets = new Map<string, object>()
  const says = {
    streams,
    sessions,
    assets,
    /** What it was asked, as `GET /stream/…`, in order. */
    calls: [] as string[],
    /** How many sessions are on a page. */
    pageSize: 100,
    /** Where a link says that the next page is. */
    linksTo: 'https://livepeer.test',
    /** What it answers in place of everything. */
    instead: null as { status: number; body: unknown } | null,
    /** Until when what it answers is on its way. */
    held: null as Promise<void> | null,
    publish(id: string) {
      const stream = ofId(id)
      const now = Date.now()
      Object.assign(stream, { isActive: true, lastSeen: now })
      if (!stream.record) return
      const { playbackId } = stream
      const length = { createdAt: now, lastSeen: now, sourceSegmentsDuration: 12.5 }
      sessions.push({ id: randomUUID(), parentId: id, ...length, recordingStatus: 'waiting', playbackId })
    },
    /** The publisher went away this very moment. */
    lose: (id: string) => void Object.assign(ofId(id), { isActive: false }),
    /** The publisher went away, and the time after which a session is over has gone by. */
    stop: (id: string) => void Object.assign(ofId(id), { isActive: false, lastSeen: Date.now() - 61_000 }),
    /** A call of its webhook, as it signs them. */
    call(told: object, secret = studioSecret, age = 0) {
      const timestamp = Date.now() - age
      const body = Buffer.from(JSON.stringify({ id: randomUUID(), webhookId: 'hook', timestamp, ...told }))
      const mark = createHmac('sha256', secret).update(body).digest('hex')
      return { body, headers: { 'livepeer-signature': `t=${timestamp},v1=${mark}` } }
    },
  }
  const ofId = (id: string) => {
    const stream = streams.get(id)
    if (!stream) throw new Error('There is no such stream')
    return stream
  }

  const none = { status: 404, body: { errors: ['not found'] } }
  const done = { status: 204, body: undefined }
  const provider: Provider & typeof says = Object.assign(
    await openProvider(async (path, body, bearer, method) => {
      provider.calls.push(`${method} ${path}`)
      const now = structuredClone(answerTo(path, body, bearer, method))
      await provider.held
      return now
    }),
    says,
  )
  return provider

  function answerTo(path: string, body: unknown, bearer: string | undefined, method: string | undefined) {
    if (provider.instead) return provider.instead
    if (bearer !== studioKey) return { status: 401, body: { errors: [`no account of ${bearer}`] } }
    const { pathname, searchParams } = new URL(path, 'http://studio.test')
    const [, kind, id = '', what] = pathname.split('/').map(decodeURIComponent)
    const asked = `${method} /${kind}${id && '/:id'}${what ? `/${what}` : ''}`
    if (asked === 'POST /stream') return { status: 201, body: made(body as { name?: string; record?: boolean }) }
    if (asked === 'GET /asset/:id') return assets.has(id) ? { status: 200, body: assets.get(id) } : none
    if (asked === 'DELETE /asset/:id') return assets.delete(id) ? done : none
    const stream = streams.get(id)
    if (!stream) return none
    if (asked === 'GET /stream/:id') return { status: 200, body: stream }
    if (asked === 'GET /stream/:id/sessions') return page(id, Number(searchParams.get('cursor') ?? 0), path)
    if (asked === 'DELETE /stream/:id') return streams.delete(id) ? done : none
    if (asked === 'DELETE /stream/:id/terminate') return terminate(stream)
    return none
  }

  function made({ name = '', record = false }: { name?: string; record?: boolean }): Stream {
    const streamKey = [four(), four(), four(), four()].join('-')
    const own = { id: randomUUID(), streamKey, playbackId: randomUUID().slice(0, 16) }
    const stream = { ...own, name, record, isActive: false, lastSeen: 0, terminatedAt: 0 }
    streams.set(stream.id, stream)
    return stream
  }

  function page(id: string, from: number, path: string) {
    const all = sessions.filter(({ parentId }) => parentId === id)
    const next = from + provider.pageSize
    const link = `<${provider.linksTo}${path.replace(/&cursor=\d+/, '')}&cursor=${next}>; rel="next"`
    return { status: 200, body: all.slice(from, next), headers: next < all.length ? { link } : {} }
  }

  function terminate(stream: Stream) {
    if (Date.now() - stream.terminatedAt < 10_000) return { status: 429, body: { errors: ['too many requests'] } }
    Object.assign(stream, { isActive: false, terminatedAt: Date.now() })
    return done
  }
}

export type Studio = Awaited<ReturnType<typeof openStudio>>

export const configOf = (studio: Studio): LivepeerConfig => ({
  apiUrl: `${studio.url}/`,
  apiKey: studioKey,
  ingestHost: 'https://ingest.test/',
  rtmpUrl: 'rtmp://rtmp.test',
  playbackHost: 'shown.test',
  webhookSecret: studioSecret,
})
