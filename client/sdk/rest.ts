import { AppError, type ErrorExtras } from '#shared/errors'
import type { Method, Route } from '#shared/kit/contract'
import { noAnswer, toldError } from './failures.ts'

interface RestOptions {
  url: string
  fetch: typeof fetch
  token(): string | null
  /** Whether calls send cookies; `omit` by default. */
  credentials?: RequestCredentials
  /** Aborts when the connection is cut on purpose. */
  cut(): AbortSignal
  /** Called with whether the server could be reached. */
  reached(answered: boolean): void
}

/** The answer of an operation. A sequence is returned as soon as it has begun; its items are read as they are consumed. */
export type Rest = (route: Route, input: object, signal?: AbortSignal) => Promise<unknown>

const deadlineMilliseconds = 35_000
/** The server sends at least a heartbeat every 15 seconds during a sequence. */
const silenceMilliseconds = 40_000

export function restDoor({ url, fetch, token, credentials = 'omit', cut, reached }: RestOptions): Rest {
  return async (route, input, signal) => {
    const { method, path, rest } = placed(route, { ...input })
    const bearer = token()
    const silence = quiet()
    const ends = [cut(), silence.signal, ...(signal ? [signal] : [])]
    const init: RequestInit = {
      method,
      credentials,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      },
      ...(method === 'GET' ? {} : outliving(JSON.stringify(rest))),
      signal: AbortSignal.any(ends),
    }
    const query = method === 'GET' ? queryOf(rest, path.includes('?') ? '&' : '?') : ''
    let goesOn = false
    silence.until(deadlineMilliseconds)
    try {
      const response = await fetch(`${url}${path}${query}`, init)
      goesOn = response.headers.get('content-type')?.startsWith('application/x-ndjson') === true
      if (goesOn) {
        reached(true)
        return itemsOf(response, silence)
      }
      const answer: unknown = await response.json().catch(() => null)
      if (answer === null) throw noAnswer(new Error(`HTTP ${response.status}`))
      reached(true)
      if (response.ok) return answer
      throw refusalOf(answer)
    } catch (error) {
      if (error instanceof AppError && error.details?.answered !== false) throw error
      if (!signal?.aborted && !cut().aborted) reached(false)
      throw error instanceof AppError ? error : noAnswer(error)
    } finally {
      if (!goesOn) silence.over()
    }
  }
}

/** Aborts when nothing was received for too long. */
function quiet() {
  const silent = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    signal: silent.signal,
    until(milliseconds: number) {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), milliseconds)
    },
    over: () => clearTimeout(timer),
  }
}

/** The items of a sequence. Its last line says how it ended; without that line it was cut. */
async function* itemsOf({ body }: Response, silence: ReturnType<typeof quiet>): AsyncGenerator<unknown> {
  const reader = (body as NonNullable<typeof body>).pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      silence.until(silenceMilliseconds)
      const { value, done } = await reader.read().catch((error: unknown) => {
        throw noAnswer(error)
      })
      silence.over()
      if (done) throw noAnswer(new Error('The answer was cut'))
      const lines = `${rest}${value}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines.filter(Boolean)) {
        const item = JSON.parse(line) as { success?: boolean }
        if (item.success === true) return
        if (item.success === false) throw refusalOf(item)
        yield item
      }
    }
  } finally {
    silence.over()
    await reader.cancel().catch(() => undefined)
  }
}

/** Short requests are sent with `keepalive`, so that they survive the page; browsers limit the sum of their sizes. */
const outliving = (body: string) => ({ body, keepalive: new TextEncoder().encode(body).length <= 1_024 })

/** Fills the parameters of the path; the other fields are sent as query or body. */
function placed(route: Route, rest: Record<string, unknown>) {
  const [method, path] = route.split(' ') as [Method, string]
  const filled = path.replace(/\{room\}|:([a-zA-Z_]+)/g, (_whole, name: string | undefined) => {
    const value = rest[name ?? 'room']
    delete rest[name ?? 'room']
    return name === undefined ? roomPath(value as { type: string; id?: string | null }) : encodeURIComponent(`${value}`)
  })
  return { method, path: filled, rest }
}

const roomPath = ({ type, id }: { type: string; id?: string | null }) =>
  id === null || id === undefined ? type : `${type}/${encodeURIComponent(id)}`

function queryOf(fields: Record<string, unknown>, sign: '?' | '&'): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return given.length === 0 ? '' : `${sign}${new URLSearchParams(given.map(([name, value]) => [name, `${value}`]))}`
}

/** Reads both shapes: `{ error: text, code }` and `{ error: { code, message } }`. */
function refusalOf(answer: unknown): AppError {
  const { error, ...beside } = (answer ?? {}) as { error?: unknown; code?: unknown } & ErrorExtras
  if (typeof error === 'string') {
    const { code, retryAfter, verdict, ...details } = beside
    return toldError(code, { message: error, ...extrasOf({ retryAfter, verdict, details }) })
  }
  const { code, message, ...extras } = (error ?? {}) as { code?: unknown } & ErrorExtras
  return toldError(code, { ...(message === undefined ? {} : { message }), ...extrasOf(extras) })
}

type Told = { [Name in 'retryAfter' | 'verdict' | 'details']?: ErrorExtras[Name] | undefined }

export const extrasOf = ({ retryAfter, verdict, details }: Told): ErrorExtras => ({
  ...(retryAfter === undefined ? {} : { retryAfter }),
  ...(verdict === undefined ? {} : { verdict }),
  ...(details === undefined ? {} : { details }),
})
