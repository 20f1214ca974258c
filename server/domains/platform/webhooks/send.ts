import type { z } from 'zod'
import type { Node } from '#server/kernel/context'
import type { Attempt } from '#shared/api/platform/webhooks'
import { AppError } from '#shared/errors'
import type { StoredWebhook } from './model.ts'
import { secretsOf, signedHeaders } from './secrets.ts'

const answerMilliseconds = 10_000
const reasons = {
  TIMEOUT: 'No answer within 10 seconds',
  UPSTREAM_ERROR: 'The receiver could not be reached',
  INVALID_PARAMETER: 'The URL may not be asked',
}

export type SendResult = z.infer<typeof Attempt> & { retryAfterSeconds: number | null }

/** Posts a body once to a public address, without redirects; only status and `Retry-After` are read. Throws the signal's reason. */
export async function postToHook(
  node: Node,
  hook: StoredWebhook,
  { id, ...rest }: { id: string; [field: string]: unknown },
  signal: AbortSignal,
): Promise<SendResult> {
  const now = node.now()
  const body = JSON.stringify({ id, ...rest })
  const begun = performance.now()
  const sent = (status: number | null, error: string | null, retryAfterSeconds: number | null = null): SendResult => {
    return { status, milliseconds: Math.round(performance.now() - begun), error, retryAfterSeconds }
  }
  const secrets = openSecrets(node, hook, now)
  if (secrets === null) return sent(null, 'The key of the secret is gone: make another one')
  const headers = { 'user-agent': 'Plaza-Webhooks', ...signedHeaders(secrets, id, now, body) }
  try {
    const request = { body, headers, onlyStatus: true, timeoutMilliseconds: answerMilliseconds, signal } as const
    const { status, headers: answered } = await node.services.web.ask(hook.url, request)
    const isTaken = status >= 200 && status < 300
    return sent(status, isTaken ? null : `The receiver answered ${status}`, secondsIn(answered['retry-after'], now))
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error
    return sent(null, reasons[error.code as keyof typeof reasons] ?? error.message)
  }
}

function openSecrets(node: Node, hook: StoredWebhook, now: number): string[] | null {
  try {
    return secretsOf(node.settings.sessionKeys, hook, now)
  } catch {
    return null
  }
}

/** Seconds of a `Retry-After`, given as seconds or a time. */
function secondsIn(given: string | undefined, now: number): number | null {
  if (given === undefined) return null
  const seconds = /^\d{1,9}$/.test(given.trim()) ? Number(given) : (Date.parse(given) - now) / 1_000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null
}
