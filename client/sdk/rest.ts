import { AppError, type ErrorExtras } from '#shared/errors'
import type { Method, Route } from '#shared/kit/contract'
import { noAnswer, toldError } from './failures.ts'

export interface RestOptions {
  url: string
  fetch: typeof fetch
  token(): string | null
  /** Whether cookies go with a call; `omit` where left out. */
  credentials?: RequestCredentials
  /** Aborts when the line is cut. */
  cut(): AbortSignal
  /** Hears whether the server could be reached at all. */
  reached(answered: boolean): void
}

export type Rest = (route: Route, input: object, signal?: AbortSignal) => Promise<unknown>

const patienceMilliseconds = 35_000

export function restDoor({ url, fetch, token, credentials = 'omit', cut, reached }: RestOptions): Rest {
  return async (route, input, signal) => {
    const { method, path, rest } = placed(route, { ...input })
    const bearer = token()
    const ends = [cut(), AbortSignal.timeout(patienceMilliseconds), ...(signal ? [signal] : [])]
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
    const query = method === 'GET' ? queryOf(rest) : ''
    try {
      const response = await fetch(`${url}${path}${query}`, init)
      const answer: unknown = await response.json().catch(() => null)
      if (answer === null) throw noAnswer(new Error(`HTTP ${response.status}`))
      reached(true)
      if (response.ok) return answer
      throw refusalOf(answer)
    } catch (error) {
      if (error instanceof AppError && error.details?.answered !== false) throw error
      if (!signal?.aborted && !cut().aborted) reached(false)
      throw error instanceof AppError ? error : noAnswer(error)
    }
  }
}

/** A page that is left still sends what is short; the sum of what browsers send then is limited. */
const outliving = (body: string) => ({ body, keepalive: new TextEncoder().encode(body).length <= 1_024 })

/** Puts the fields that the path names into it; what is left travels as query or body. */
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

function queryOf(fields: Record<string, unknown>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, `${value}`]))}`
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
