import { setTimeout as wait } from 'node:timers/promises'
import OpenAI from 'openai'
import { AppError } from '#shared/errors'
import { failureOf } from './openai-failures.ts'

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
