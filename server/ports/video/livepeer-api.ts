import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { AssetPhase, VideoAsset } from './port.ts'

const bounds = { timeoutMilliseconds: 5_000, maxBytes: 1024 * 1024 }
const mostPages = 10

const Id = z.string().min(1).max(200)
const Milliseconds = z.number().min(0).max(8.64e15)
const Url = z
  .url({ protocol: /^https?$/ })
  .nullish()
  .catch(null)

export const Stream = z.object({
  id: Id,
  isActive: z.boolean().nullish(),
  lastSeen: Milliseconds.nullish(),
  record: z.boolean().nullish(),
})
export type Stream = z.output<typeof Stream>

const Created = z.object({ id: Id, streamKey: Id, playbackId: Id })

export const Session = z.object({
  id: Id,
  createdAt: Milliseconds,
  sourceSegmentsDuration: z.number().nullish(),
  recordingStatus: z.string().nullish(),
  recordingUrl: Url,
  mp4Url: Url,
  playbackId: Id.nullish(),
})
export type Session = z.output<typeof Session>

export const Asset = z.object({
  status: z.object({
    phase: z.string(),
    progress: z.number().min(0).max(1).nullish().catch(null),
    errorMessage: z.string().nullish(),
  }),
  playbackId: Id.nullish(),
  playbackUrl: Url,
  downloadUrl: Url,
  size: z.number().nullish(),
  videoSpec: z.object({ duration: z.number().nullish() }).nullish(),
})
export type Asset = z.output<typeof Asset>

const Refusal = z.object({ errors: z.array(z.unknown()) })
const Link = /<([^<>]+)>;\s*rel="?next"?/

/** Livepeer Studio over HTTP. Its refusals are read but never shown, as they may hold anything. */
export function studio(apiUrl: string, apiKey: string) {
  const base = apiUrl.replace(/\/+$/, '')

  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, input?: object) {
    const request = {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        'user-agent': 'plaza',
        ...(input && { 'content-type': 'application/json' }),
      },
      ...(input && { body: JSON.stringify(input) }),
    }
    const { status, headers, text } = await fetchText(`${base}${path}`, request, bounds).catch((cause: unknown) => {
      throw new AppError('SERVICE_UNAVAILABLE', { cause })
    })
    const answer = parsedJson(text)
    // A page of a proxy is no answer of the provider.
    const isAnswer = status === 404 ? Refusal.safeParse(answer).success : text === '' || answer !== null
    return { status: isAnswer ? status : 502, answer, headers }
  }

  /** Null where there is none. */
  async function read<What extends z.ZodType>(path: string, schema: What) {
    const { status, answer, headers } = await ask('GET', path)
    if (status === 404) return null
    return { found: understood(schema, status, answer), headers }
  }

  return {
    async create(name: string, record: boolean): Promise<z.output<typeof Created>> {
      const { status, answer } = await ask('POST', '/stream', { name, record })
      return understood(Created, status, answer, 'UPSTREAM_ERROR')
    },
    one: async <What extends z.ZodType>(path: string, schema: What) => (await read(path, schema))?.found ?? null,
    /** Only the cursor of the next page is taken from a link, so that the key goes nowhere else. */
    async all<What extends z.ZodType>(path: string, schema: What): Promise<z.output<What>[]> {
      const found: z.output<What>[] = []
      let cursor = ''
      for (let page = 0; page < mostPages; page++) {
        const answer = await read(`${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, z.array(schema))
        if (!answer) break
        found.push(...answer.found)
        cursor = cursorOf(answer.headers.get('link'))
        if (!cursor) break
      }
      return found
    },
    /** What is gone already is as good as removed. */
    async remove(path: string, alsoFine: readonly number[] = []): Promise<void> {
      const { status } = await ask('DELETE', path)
      if ((status < 200 || status > 299) && ![404, ...alsoFine].includes(status)) throw answered(status)
    },
  }
}

function understood<What extends z.ZodType>(
  schema: What,
  status: number,
  answer: unknown,
  code: 'SERVICE_UNAVAILABLE' | 'UPSTREAM_ERROR' = 'SERVICE_UNAVAILABLE',
): z.output<What> {
  const read = schema.safeParse(status >= 200 && status <= 299 ? answer : undefined)
  if (!read.success) throw answered(status, code)
  return read.data
}

const answered = (status: number, code: 'SERVICE_UNAVAILABLE' | 'UPSTREAM_ERROR' = 'SERVICE_UNAVAILABLE') =>
  new AppError(code, { cause: new Error(`The provider of livestreams answered ${status}`) })

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function cursorOf(link: string | null): string {
  const [, next] = Link.exec(link ?? '') ?? []
  return next && URL.canParse(next) ? (new URL(next).searchParams.get('cursor') ?? '') : ''
}

const phases: Readonly<Record<string, AssetPhase>> = {
  uploading: 'waiting',
  waiting: 'waiting',
  processing: 'processing',
  ready: 'ready',
  failed: 'failed',
}

/** The recording of a session, which has no asset at first; null if there is nothing to show. */
export function recordingOf(streamId: string, session: Session, asset: Asset | null): VideoAsset | null {
  const phase = phases[(asset ? asset.status.phase : session.recordingStatus) ?? '']
  if (!phase) return null
  const made = asset ?? {
    playbackUrl: session.recordingUrl,
    downloadUrl: session.mp4Url,
    playbackId: session.playbackId,
  }
  const isReady = phase === 'ready'
  return {
    assetId: session.id,
    streamId,
    phase,
    progress: isReady ? 1 : (asset?.status.progress ?? 0),
    startedAt: new Date(session.createdAt),
    durationSeconds: asset?.videoSpec?.duration ?? session.sourceSegmentsDuration ?? null,
    sizeBytes: asset?.size ?? null,
    error: phase === 'failed' ? (asset?.status.errorMessage?.slice(0, 300) ?? null) : null,
    playbackId: isReady ? (made.playbackId ?? null) : null,
    playbackUrl: isReady ? (made.playbackUrl ?? null) : null,
    downloadUrl: isReady ? (made.downloadUrl ?? null) : null,
  }
}
