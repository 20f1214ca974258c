import OpenAI from 'openai'
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
export function failureOf(error: unknown): ProviderFailure | null {
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
