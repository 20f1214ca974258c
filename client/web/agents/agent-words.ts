import type { Agent } from '#shared/api/agents/agent-records'
import type { CutShort, RunFailure } from '#shared/api/agents/run-frames'
import type { ProblemWords } from '../kit/problem.ts'
import { agentListTexts, agentChatTexts as t } from '../texts/agent-chat.ts'

export const visibilityTitles: Record<Agent['visibility'], string> = agentListTexts.visibility

/** Why an agent can be neither opened nor asked. */
export const missingWords: ProblemWords = {
  AGENT_NOT_FOUND: t.problems.notFound,
  AGENT_PRIVATE: t.problems.private,
  AGENT_FRIENDS_ONLY: t.problems.friends,
}

/** Why an answer failed, and what can be done; `isLasting` where the same question would fail the same way. */
interface FailureWords {
  why: string
  next: string
  isLasting?: boolean
}

const { soon, later, now } = t.next

export const failureWords: Record<RunFailure | 'RUN_NOT_FOUND', FailureWords> = {
  MODEL_BUSY: { why: t.failures.MODEL_BUSY, next: soon },
  MODEL_UNAVAILABLE: { why: t.failures.MODEL_UNAVAILABLE, next: soon },
  MODEL_REFUSED: { why: t.failures.MODEL_REFUSED, next: t.next.MODEL_REFUSED },
  QUESTION_REFUSED: { why: t.failures.QUESTION_REFUSED, next: t.next.QUESTION_REFUSED, isLasting: true },
  CONTEXT_TOO_LONG: { why: t.failures.CONTEXT_TOO_LONG, next: t.next.CONTEXT_TOO_LONG, isLasting: true },
  MODEL_SILENT: { why: t.failures.MODEL_SILENT, next: now },
  UPSTREAM_ERROR: { why: t.failures.UPSTREAM_ERROR, next: now },
  TIMEOUT: { why: t.failures.TIMEOUT, next: soon },
  RUN_LOST: { why: t.failures.RUN_LOST, next: t.next.RUN_LOST },
  DAILY_TOKENS_REACHED: { why: t.failures.DAILY_TOKENS_REACHED, next: t.next.DAILY_TOKENS_REACHED },
  SERVICE_UNAVAILABLE: { why: t.failures.SERVICE_UNAVAILABLE, next: soon },
  DATABASE_ERROR: { why: t.failures.DATABASE_ERROR, next: soon },
  INTERNAL_ERROR: { why: t.failures.INTERNAL_ERROR, next: later },
  RUN_NOT_FOUND: { why: t.failures.RUN_NOT_FOUND, next: t.next.RUN_NOT_FOUND },
}
const unknownFailure: FailureWords = { why: t.failures.unknown, next: now }

const wordsOf = (code: string | null): FailureWords =>
  code !== null && Object.hasOwn(failureWords, code) ? failureWords[code as RunFailure] : unknownFailure

export const whyFailed = (code: string | null): string => wordsOf(code).why

/** Why an answer ended early, after what was written of it, and whether asking again helps. */
export function endWords(code: string | null, text: string): { words: string; isLasting: boolean } {
  const { why, next, isLasting = false } = wordsOf(code)
  const kept = text === '' || code === 'RUN_NOT_FOUND' ? [] : [t.next.kept]
  return { words: [why, ...kept, next].join(' '), isLasting }
}

/** Why an answer is not whole, though it has ended. */
export const cutWords: Record<CutShort, string> = t.cut
