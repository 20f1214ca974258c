import { setTimeout as wait } from 'node:timers/promises'
import OpenAI from 'openai'
import { AppError } from '#shared/errors'
import type { ProviderFailure } from './port.ts'

const words = {
  tooLong: /context_length|context_window|exceed_context|string_above_max_length/,
  policy: /content_filter|content_policy|invalid_prompt|moderation_blocked/,
  quota: /insufficient_quota|billing/,
  busy: /rate[ _]?limit|overloaded/i,
}
/** Servers that answer as OpenAI does, but name no code, say it in a sentence. */
const saysTooLong = /context (?:length|window|size)|prompt is too long|too many (?:input )?tokens/i

/** The server says that it failed before the end of its answer. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

/** The provider's reason for not answering; null without one for readers. */
function failureOf(error: unknown): ProviderFailure | null {
  if (error instanceof OpenAI.APIConnectionError || error instanceof BrokenOff) return 'MODEL_UNAVAILABLE'
  if (!(error instanceof OpenAI.APIError)) return null
  // Within a stream the status is in the code.
  const status: number = error.status ?? (Number(error.code) || 0)
  // Some servers say it in a sentence alone, of which some make no object.
  const named = `${error.code ?? ''} ${error.type ?? ''}`
  const code = /[a-z]/i.test(named) ? named : saidIn(error.error)
  if (words.tooLong.test(code) || status === 413 || (status === 400 && saysTooLong.test(error.message)))
    return 'CONTEXT_TOO_LONG'
  if (words.policy.test(code)) return 'QUESTION_REFUSED'
  if (words.quota.test(code)) return 'MODEL_REFUSED'
  if (words.busy.test(code) || status === 429 || status === 529) return 'MODEL_BUSY'
  if (status === 408 || status >= 500 || /server_error/.test(code)) return 'MODEL_UNAVAILABLE'
  return status >= 400 ? 'MODEL_REFUSED' : null
}

const saidIn = (error: unknown): string => {
  const said = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return typeof said === 'string' ? said : ''
}

export interface Provider {
  baseUrl: string
  apiKey: string
  model: string
}

export interface Patience {
  /** From the request, or from one part of the answer, to the next part. */
  idleMilliseconds: number
  /** The wait for the end of the body after the last event, as some servers leave the connection open. */
  closingMilliseconds: number
  /** For one answer altogether. */
  totalMilliseconds: number
  /** Before another attempt, where the server does not say how long; doubled each time. */
  retryMilliseconds: number
}

const usual: Patience = {
  idleMilliseconds: 30_000,
  closingMilliseconds: 2_000,
  totalMilliseconds: 5 * 60_000,
  retryMilliseconds: 500,
}
const attempts = 3
/** Nobody who waits for an answer waits longer than this before it is even begun. */
const longestRetryMilliseconds = 5_000

/** Without the client's retries, whose waits are unbounded and ignore aborts: ours are `retrying`. */
export const openClient = ({ baseUrl, apiKey }: Provider, asks: typeof fetch): OpenAI =>
  new OpenAI({
    apiKey,
    baseURL: baseUrl,
    fetch: asks,
    maxRetries: 0,
    timeout: usual.totalMilliseconds,
    // It writes what it cannot read of an answer to the console.
    logLevel: 'off',
    // Else it looks for these in the environment.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
  })

/** One request of ours. Its signal is aborted by the caller, by a timeout, and at its end. */
export interface ModelRequest {
  readonly asker: AbortSignal
  readonly signal: AbortSignal
  readonly patience: Patience
  /** The next sign of life must come within this time. */
  expect(milliseconds: number): void
  /** Nothing is expected while the asker handles what came. */
  rest(): void
  /** What an error means: the reason of the asker, ours, or that the provider failed. */
  meant(error: unknown): unknown
  end(): void
}

export function openAsking(asker: AbortSignal, given: Partial<Patience>): ModelRequest {
  const patience = { ...usual, ...given }
  const own = new AbortController()
  const tooLate = () => own.abort(new AppError('TIMEOUT'))
  const total = setTimeout(tooLate, patience.totalMilliseconds)
  let next: NodeJS.Timeout | undefined
  return {
    asker,
    signal: AbortSignal.any([asker, own.signal]),
    patience,
    expect(milliseconds) {
      clearTimeout(next)
      next = setTimeout(tooLate, milliseconds)
    },
    rest: () => clearTimeout(next),
    meant(error) {
      if (asker.aborted) return asker.reason
      if (own.signal.aborted) return own.signal.reason
      if (error instanceof AppError) return error
      const failure = failureOf(error)
      const cause = new Error(toldOf(error))
      return new AppError('UPSTREAM_ERROR', { cause, ...(failure ? { details: { failure } } : {}) })
    },
    end() {
      clearTimeout(total)
      clearTimeout(next)
      own.abort(new Error('The request has ended'))
    },
  }
}

/** Without what the provider wrote, which may repeat what it was asked, or the key. */
const toldOf = (error: unknown): string =>
  error instanceof OpenAI.APIError && error.status !== undefined
    ? `The model provider answered ${error.status}`
    : `The model provider broke off (${error instanceof Error ? error.name : typeof error})`

/** Asks again where a server is busy or away, as long as nothing of an answer is there. */
export async function retrying<T>(asking: ModelRequest, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    asking.expect(asking.patience.idleMilliseconds)
    try {
      return await ask()
    } catch (error) {
      const pause = pauseAfter(error, asking.patience.retryMilliseconds * 2 ** (attempt - 1))
      if (attempt >= attempts || pause === null || asking.signal.aborted) throw error
      asking.rest()
      await wait(pause, undefined, { signal: asking.signal })
    }
  }
}

/** Null where another attempt would not help, or comes too late. */
function pauseAfter(error: unknown, usually: number): number | null {
  if (!(error instanceof OpenAI.APIError)) return null
  const failure = failureOf(error)
  const isWorthIt = failure === 'MODEL_BUSY' || failure === 'MODEL_UNAVAILABLE'
  const seconds = Number(error.headers?.get('retry-after') ?? Number.NaN)
  const pause = Number.isFinite(seconds) ? seconds * 1000 : usually
  return isWorthIt && pause <= longestRetryMilliseconds ? Math.max(0, pause) : null
}

/** Asks again without the parameters that a server says it does not take, which it is then spared for ever. */
export async function withoutRefused<T>(
  refused: Set<string>,
  dispensable: readonly string[],
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const parameter = refusedParameter(error)
    if (parameter === null || refused.has(parameter) || !dispensable.includes(parameter)) throw error
    refused.add(parameter)
    return withoutRefused(refused, dispensable, ask)
  }
}

/** The parameter that a server says it does not take; null where it says no such thing. */
const refusedParameter = (error: unknown): string | null =>
  error instanceof OpenAI.APIError && error.status === 400 ? (/^\w+/.exec(error.param ?? '')?.[0] ?? null) : null
