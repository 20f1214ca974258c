import { AppError } from '#shared/errors'

interface Bounds {
  timeoutMilliseconds: number
  maxBytes: number
}

/** Asks a service of the configuration. A late answer is TIMEOUT; none, a redirect or one without end is UPSTREAM_ERROR. */
export async function fetchText(
  url: string,
  request: RequestInit,
  { timeoutMilliseconds, maxBytes }: Bounds,
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  try {
    const response = await fetch(url, { ...request, redirect: 'error', signal })
    return { status: response.status, text: await readAtMost(response, maxBytes) }
  } catch (cause) {
    throw new AppError(signal.aborted ? 'TIMEOUT' : 'UPSTREAM_ERROR', { cause })
  }
}

const jsonBounds = { timeoutMilliseconds: 5_000, maxBytes: 64 * 1024 }

/** Posts JSON to a service of the configuration, with the errors of `fetchText`; `answer` is null where its answer is no JSON. */
export async function postJson(
  url: string,
  input: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; answer: unknown }> {
  const sent = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'plaza', ...headers }
  const request = { method: 'POST', headers: sent, body: JSON.stringify(input) }
  const { status, text } = await fetchText(url, request, jsonBounds)
  try {
    return { status, answer: JSON.parse(text) }
  } catch {
    return { status, answer: null }
  }
}

async function readAtMost(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > maxBytes) throw new Error(`The answer is longer than ${maxBytes} bytes`)
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}
