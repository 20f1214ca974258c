import type { Agent } from '#shared/api/agents/agent-records'
import type { CutShort, phases, RunFailure } from '#shared/api/agents/run-frames'
import type { ProblemWords } from '../kit/problem.ts'
import { agentListTexts } from '../texts/agent-list.ts'

export const visibilityTitles: Record<Agent['visibility'], string> = agentListTexts.visibility

/** Why an agent can be neither opened nor asked. */
export const missingWords: ProblemWords = {
  AGENT_NOT_FOUND: 'There is no such agent. It may have been deleted.',
  AGENT_PRIVATE: 'This agent is for its owner only.',
  AGENT_FRIENDS_ONLY: 'This agent is for friends of its owner.',
}

export const phaseWords: Record<(typeof phases)[number], string> = {
  queued: 'Waiting for the answer before it',
  retrieval: 'Looking through its knowledge',
  fetch: 'Reading pages',
  tools: 'Using a tool',
  calendar: 'Looking for free times',
  generating: 'Writing',
}

/** Why an answer failed, and what can be done; `isLasting` where the same question would fail the same way. */
interface FailureWords {
  why: string
  next: string
  isLasting?: boolean
}

const soon = 'Ask again in a minute.'
const later = 'Ask again later.'
const now = 'Asking again may help.'

export const failureWords: Record<RunFailure | 'RUN_NOT_FOUND', FailureWords> = {
  MODEL_BUSY: { why: 'Too many are asking the model at once.', next: soon },
  MODEL_UNAVAILABLE: { why: 'The model cannot be reached, or has trouble of its own.', next: soon },
  MODEL_REFUSED: {
    why: 'The provider of the model turns this server away.',
    next: 'Its operators have to mend that. Ask again later.',
  },
  QUESTION_REFUSED: {
    why: 'The provider of the model does not want this question answered.',
    next: 'Asking the same again does not help. Ask in other words.',
    isLasting: true,
  },
  CONTEXT_TOO_LONG: {
    why: 'The question, with what was said before it, is longer than the model takes.',
    next: 'Asking the same again does not help. Ask a shorter question, or delete the conversation.',
    isLasting: true,
  },
  MODEL_SILENT: { why: 'The model said nothing.', next: now },
  UPSTREAM_ERROR: { why: 'The model broke off.', next: now },
  TIMEOUT: { why: 'The model took too long.', next: soon },
  RUN_LOST: { why: 'The server that was answering stopped.', next: 'Ask again: another one answers.' },
  DAILY_TOKENS_REACHED: {
    why: 'It has answered all that it may today, or all that you may ask.',
    next: 'Ask again tomorrow.',
  },
  SERVICE_UNAVAILABLE: { why: 'The server could not answer at that moment.', next: soon },
  DATABASE_ERROR: { why: 'The server could not keep the answer.', next: soon },
  INTERNAL_ERROR: { why: 'The server made a mistake.', next: later },
  RUN_NOT_FOUND: { why: 'This answer is not kept any more.', next: 'Ask again for a new one.' },
}
const unknownFailure: FailureWords = { why: 'The answer could not be finished.', next: now }

const wordsOf = (code: string | null): FailureWords =>
  code !== null && Object.hasOwn(failureWords, code) ? failureWords[code as RunFailure] : unknownFailure

export const whyFailed = (code: string | null): string => wordsOf(code).why

/** Why an answer ended early, after what was written of it, and whether asking again helps. */
export function endWords(code: string | null, text: string): { words: string; isLasting: boolean } {
  const { why, next, isLasting = false } = wordsOf(code)
  const kept = text === '' || code === 'RUN_NOT_FOUND' ? [] : ['What it had written is kept.']
  return { words: [why, ...kept, next].join(' '), isLasting }
}

/** Why an answer is not whole, though it has ended. */
export const cutWords: Record<CutShort, string> = {
  length: 'The answer was cut off here: it is as long as one may be.',
  filtered: 'The answer was cut off here by the filter of the model.',
}
