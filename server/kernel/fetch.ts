import { AppError } from '#shared/errors'

interface Bounds {
  timeoutMilliseconds: number
  maxBytes: number
}

/**
 * Calls a configured service. A late answer is TIMEOUT; no answer, a redirect or an endless one is UPSTREAM_ERROR. An
 * aborted signal throws its reason.
 */
export async function fetchText(
  url: string,
  request: RequestInit,
  { timeoutMilliseconds, maxBytes }: Bounds,
): Promise<{ status: number; headers: Headers; text: string }> {
  const late = AbortSignal.timeout(timeoutMilliseconds)
  const signal = request.signal ? AbortSignal.any([request.signal, late]) : late
  try {
    const response = await boundedFetch(maxBytes)(url, { ...request, signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (cause) {
    request.signal?.throwIfAborted()
    throw new AppError(late.aborted ? 'TIMEOUT' : 'UPSTREAM_ERROR', { cause })
  }
}

/**
 * A `fetch` for clients of configured services. It follows no redirect, and limits the bytes of the answer and of each
 * line. Node 20 may lose its signal during a body, so the body has it too.
 */
export const boundedFetch =
  (maxBytes: number, maxLineBytes = maxBytes): typeof fetch =>
  async (url, request) => {
    const response = await fetch(url, { ...request, redirect: 'error' })
    const until = request?.signal ? { signal: request.signal } : {}
    return response.body === null
      ? response
      : new Response(response.body.pipeThrough(atMost(maxBytes, maxLineBytes), until), response)
  }

function atMost(maxBytes: number, maxLineBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  let lineBytes = 0
  return new TransformStream({
    transform(part, controller) {
      bytes += part.byteLength
      const end = part.lastIndexOf(10)
      lineBytes = end < 0 ? lineBytes + part.byteLength : part.byteLength - 1 - end
      if (bytes > maxBytes) throw new Error(`The answer is longer than ${maxBytes} bytes`)
      if (lineBytes > maxLineBytes) throw new Error(`A line of the answer is longer than ${maxLineBytes} bytes`)
      controller.enqueue(part)
    },
  })
}

const jsonBounds = { timeoutMilliseconds: 5_000, maxBytes: 64 * 1024 }

/** Posts JSON to a configured service, with the errors of `fetchText`; `answer` is null if it is not JSON. */
export async function postJson(
  url: string,
  input: object,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): Promise<{ status: number; answer: unknown }> {
  const sent = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'plaza', ...headers }
  const request = { method: 'POST', headers: sent, body: JSON.stringify(input), signal }
  const { status, text } = await fetchText(url, request, jsonBounds)
  try {
    return { status, answer: JSON.parse(text) }
  } catch {
    return { status, answer: null }
  }
}
