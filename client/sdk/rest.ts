import { AppError, type ErrorExtras, errorHeaders } from '#shared/errors'
import type { Method, Route } from '#shared/kit/contract'
import { noAnswer, toldError } from './failures.ts'

interface FormRequest {
  method: string
  headers: Record<string, string>
  body: FormData
  signal: AbortSignal
}

/** Only `XMLHttpRequest` reports the progress of an upload. It always sends the cookies of its own origin. */
const canTell = (url: string, credentials: RequestCredentials): boolean =>
  typeof XMLHttpRequest !== 'undefined' &&
  (credentials !== 'omit' || new URL(url, location.href).origin !== location.origin)

/** Sends a form as `fetch` does, and tells the share of it that is sent, from 0 to 1. */
function sendForm(url: string, request: FormRequest, sent: (share: number) => void): Promise<Response> {
  const { method, headers, body, signal } = request
  return new Promise((resolve, reject) => {
    const asked = new XMLHttpRequest()
    const abort = () => asked.abort()
    asked.open(method, url)
    for (const [name, value] of Object.entries(headers)) asked.setRequestHeader(name, value)
    asked.upload.onprogress = ({ loaded, total }) => sent(total > 0 ? loaded / total : 0)
    asked.onload = () => resolve(new Response(asked.responseText, { status: asked.status }))
    asked.onerror = () => reject(new TypeError('The form could not be sent'))
    asked.onabort = () => reject(signal.reason)
    asked.onloadend = () => signal.removeEventListener('abort', abort)
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', abort)
    asked.send(body)
  })
}

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

export interface RestCall {
  /** Rejects the call with its reason where it is aborted: by itself a `DOMException` named `AbortError`. */
  signal?: AbortSignal | undefined
  /** No line beside the items of a sequence tells how it ended. */
  lines?: 'only' | undefined
  /** Called with the share of a file that is sent, from 0 to 1. */
  onProgress?: ((share: number) => void) | undefined
}

/** The answer of an operation. A sequence is returned as soon as it has begun; its items are read as they are consumed. */
export type Rest = (route: Route, input: object, call?: RestCall) => Promise<unknown>

/** What the answers of sequences are. */
const sequences = ['application/x-ndjson', 'text/event-stream']

const deadlineMilliseconds = 35_000
/** Where nothing tells how much of a file is sent. */
const fileMilliseconds = 900_000
/** The server sends at least a heartbeat every 15 seconds during a sequence. */
const silenceMilliseconds = 40_000

export function restDoor({ url, fetch, token, credentials = 'omit', cut, reached }: RestOptions): Rest {
  return async (route, input, { signal, lines, onProgress } = {}) => {
    const { method, path, rest } = placed(route, { ...input })
    const form = hasFile(rest) ? formOf(rest) : null
    const bearer = token()
    const silence = quiet()
    const ends = [cut(), silence.signal, ...(signal ? [signal] : [])]
    const init = {
      method,
      credentials,
      // What a browser keeps of lists of one's own, which it may for some seconds, lacks what was just done.
      cache: 'no-store' as const,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(method === 'GET' || form ? {} : { 'content-type': 'application/json' }),
      },
      ...(method === 'GET' || form ? {} : outliving(JSON.stringify(rest))),
      signal: AbortSignal.any(ends),
    }
    const send = (address: string) => {
      if (form === null) return fetch(address, init)
      // Node 24 reads a form that it does not send, and ends the process by an unhandled rejection.
      init.signal.throwIfAborted()
      if (!canTell(address, credentials)) return fetch(address, { ...init, body: form })
      return sendForm(address, { ...init, body: form }, (share) => {
        silence.until(deadlineMilliseconds)
        onProgress?.(share)
      })
    }
    const query = method === 'GET' ? queryOf(rest, path.includes('?') ? '&' : '?') : ''
    let goesOn = false
    silence.until(form && !canTell(url, credentials) ? fileMilliseconds : deadlineMilliseconds)
    try {
      const response = await send(`${url}${path}${query}`)
      goesOn = sequences.some((type) => response.headers.get('content-type')?.startsWith(type))
      if (goesOn) {
        reached(true)
        return itemsOf(response, silence, lines)
      }
      const answer: unknown = await response.json().catch(() => null)
      // A proxy in front refuses in its own words what is larger than it passes on.
      if (answer === null && response.status === 413) throw toldError('PAYLOAD_TOO_LARGE', {})
      if (answer === null) throw noAnswer(new Error(`HTTP ${response.status}`))
      reached(true)
      // What is accepted (202) is not answered yet, and says so as a refusal does.
      if (response.ok && response.status !== 202) {
        if (form) onProgress?.(1)
        return answer
      }
      throw refusalOf(answer, response.headers.get(errorHeaders.code))
    } catch (error) {
      if (error instanceof AppError && error.details?.answered !== false) throw error
      // As `fetch` does: an `AbortError`, unless whoever aborts says otherwise.
      if (signal?.aborted) throw signal.reason
      if (!cut().aborted) reached(false)
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

/**
 * The items of a sequence. Its last line says how it ended; without that line it was cut. Where there are only items, the end of the
 * answer is the end of the sequence, and one that is cut fails while it is read.
 */
async function* itemsOf(
  { body }: Response,
  silence: ReturnType<typeof quiet>,
  lines?: 'only',
): AsyncGenerator<unknown> {
  const reader = (body as NonNullable<typeof body>).pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      silence.until(silenceMilliseconds)
      const { value, done } = await reader.read().catch((error: unknown) => {
        throw noAnswer(error)
      })
      silence.over()
      if (done && lines === 'only' && rest === '') return
      if (done) throw noAnswer(new Error('The answer was cut'))
      const whole = `${rest}${value}`.split('\n')
      rest = whole.pop() ?? ''
      for (const line of whole) {
        // Of server-sent events the names and the comments are left out.
        const text = line.replace(/^data: |^(id|event)?:.*/, '')
        if (text === '') continue
        const item = JSON.parse(text) as { success?: boolean }
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

const hasFile = (fields: Record<string, unknown>) => Object.values(fields).some((value) => value instanceof Blob)

/** The sender of a form sets its type and its boundary. */
function formOf(fields: Record<string, unknown>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null) form.set(name, value instanceof Blob ? value : `${value}`)
  return form
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

/** Reads both shapes: `{ error: text, code }` and `{ error: { code, message } }`; the code is that of the header, where there is one. */
function refusalOf(answer: unknown, told: string | null = null): AppError {
  const { error, ...beside } = (answer ?? {}) as { error?: unknown; code?: unknown } & ErrorExtras
  if (typeof error === 'string') {
    const { code, retryAfter, verdict, ...details } = beside
    return toldError(told ?? code, { message: error, ...extrasOf({ retryAfter, verdict, details }) })
  }
  const { code, message, ...extras } = (error ?? {}) as { code?: unknown } & ErrorExtras
  return toldError(told ?? code, { ...(message === undefined ? {} : { message }), ...extrasOf(extras) })
}

type Told = { [Name in 'retryAfter' | 'verdict' | 'details']?: ErrorExtras[Name] | undefined }

export const extrasOf = ({ retryAfter, verdict, details }: Told): ErrorExtras => ({
  ...(retryAfter === undefined ? {} : { retryAfter }),
  ...(verdict === undefined ? {} : { verdict }),
  ...(details === undefined ? {} : { details }),
})
