import type { Allowance } from '#server/domains/agent-spending/allowance'
import type { StoredAgent } from '#server/domains/agent-state/model'
import type { Node } from '#server/kernel/context'
import type { FrameBody } from '#shared/api/run-frames'
import type { StoredRun } from './model.ts'

/** What everything that works on one answer is given; `tell` adds a frame to it. */
export interface AnswerContext {
  node: Node
  agent: StoredAgent
  run: StoredRun
  tell: (body: FrameBody) => void
  signal: AbortSignal
  /** What it may take of its owner's tokens of the day. */
  allowance: Allowance
}
