import type { Agent } from '#shared/api/agent-records'
import type { CutShort, phases } from '#shared/api/run-frames'
import type { ProblemWords } from '../kit/problem.ts'

export const visibilityTitles: Record<Agent['visibility'], string> = {
  private: 'Only you',
  friends: 'Your friends',
  public: 'Everybody',
  official: 'Official',
}

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

/** Why an answer ended early, in words, after what was written of it. */
export function endWords(code: string | null, text: string): string {
  const kept = text === '' ? '' : ' What it had written is kept.'
  if (code === 'RUN_LOST') return `The server that was answering stopped.${kept}`
  if (code === 'TIMEOUT') return `The model took too long.${kept}`
  if (code === 'UPSTREAM_ERROR') return `The model broke off.${kept}`
  if (code === 'RUN_NOT_FOUND') return 'This answer is not kept any more.'
  return `The answer could not be finished.${kept}`
}

/** Why an answer is not whole, though it has ended. */
export const cutWords: Record<CutShort, string> = {
  length: 'The answer was cut off here: it is as long as one may be.',
  filtered: 'The answer was cut off here by the filter of the model.',
}
