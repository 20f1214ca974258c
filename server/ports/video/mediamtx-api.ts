import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'

/** One answer holds all that is published, with its tracks and its viewers. */
const bounds = { timeoutMilliseconds: 5_000, maxBytes: 8 * 1024 * 1024 }
const mostPaths = 1_000_000

const When = z.iso.datetime({ offset: true })

/** `ready` is what versions before 1.16 say in place of `online`. */
const Path = z
  .object({
    name: z.string(),
    online: z.boolean().nullish(),
    onlineTime: When.nullish(),
    ready: z.boolean().nullish(),
    readyTime: When.nullish(),
    source: z.object({ type: z.string(), id: z.string() }).nullish(),
  })
  .transform(({ name, online, onlineTime, ready, readyTime, source }) => {
    const since = onlineTime ?? readyTime
    return {
      name,
      isOnline: online ?? ready ?? false,
      since: since ? new Date(since) : null,
      publisher: source ?? null,
    }
  })
/** What is published at a path, or was. */
export type Path = z.output<typeof Path>
type Publisher = NonNullable<Path['publisher']>

const Paths = z.object({ pageCount: z.number().max(1), items: z.array(Path) })

/** A time without a gap in which a path was recorded. */
const Span = z.object({ start: When, duration: z.number().min(0) })
export type Span = z.output<typeof Span>

const Recording = z.object({ segments: z.array(z.object({ start: When })) })

const Refusal = z.object({ error: z.string() })

/** The paths that disconnect publishers, by protocol. */
const connections: Readonly<Record<string, string>> = {
  rtmpConn: 'rtmpconns',
  rtmpsConn: 'rtmpsconns',
  webRTCSession: 'webrtcsessions',
  rtspSession: 'rtspsessions',
  rtspsSession: 'rtspssessions',
  srtConn: 'srtconns',
  moqSession: 'moqsessions',
}

/** The HTTP interfaces of MediaMTX: its control API, and its playback server, which has the lengths of recordings. */
export function mediaMtxApi({ apiUrl, listUrl }: { apiUrl: string; listUrl: string }, token: () => string) {
  async function ask(method: 'GET' | 'POST' | 'DELETE', url: string) {
    const headers = { authorization: `Bearer ${token()}`, accept: 'application/json', 'user-agent': 'plaza' }
    const { status, text } = await fetchText(url, { method, headers }, bounds).catch((cause: unknown) => {
      throw new AppError('SERVICE_UNAVAILABLE', { cause })
    })
    const answer = parsed(text)
    // A "not found" page of a proxy is no answer of MediaMTX.
    return { status: status === 404 && !Refusal.safeParse(answer).success ? 502 : status, answer }
  }

  /** Null where there is none. */
  async function read<What extends z.ZodType>(url: string, schema: What): Promise<z.output<What> | null> {
    const { status, answer } = await ask('GET', url)
    if (status === 404) return null
    const found = schema.safeParse(status === 200 ? answer : undefined)
    if (!found.success) throw answered(status)
    return found.data
  }

  const api = `${below(apiUrl)}/v3`
  return {
    /** All that is published now: one answer, so that nothing moves from page to page meanwhile. */
    async paths(): Promise<Path[]> {
      const found = await read(`${api}/paths/list?itemsPerPage=${mostPaths}`, Paths)
      if (!found) throw answered(404)
      return found.items
    },
    path: (name: string) => read(`${api}/paths/get/${name}`, Path),
    /** A publisher who left already counts as disconnected. */
    async disconnect({ type, id }: Publisher): Promise<void> {
      const { status } = await ask('POST', `${api}/${connections[type] ?? type}/kick/${encodeURIComponent(id)}`)
      if (status !== 200 && status !== 404) throw answered(status)
    },
    spans: async (name: string): Promise<Span[]> =>
      (await read(`${below(listUrl)}/list?path=${encodeURIComponent(name)}`, z.array(Span))) ?? [],
    /** Its recordings are in files, one or more for each time that it was published. */
    async removeRecordings(name: string): Promise<void> {
      const segments = async () => (await read(`${api}/recordings/get/${name}`, Recording))?.segments ?? []
      for (const { start } of await segments()) {
        const asked = new URLSearchParams({ path: name, start })
        await ask('DELETE', `${api}/recordings/deletesegment?${asked}`)
      }
      // A file that was gone before is refused as one that cannot be removed is.
      if ((await segments()).length > 0) throw new AppError('SERVICE_UNAVAILABLE')
    },
  }
}

const answered = (status: number) =>
  new AppError('SERVICE_UNAVAILABLE', { cause: new Error(`MediaMTX answered ${status}`) })

export const below = (url: string): string => url.replace(/\/+$/, '')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
