import type { Citation, CutShort, RunFrame, RunTool, Scheduling, WebSource } from '#shared/api/agents/run-frames'
import { withTool } from '#shared/api/agents/run-tools'

type FrameOf<T extends RunFrame['t']> = Extract<RunFrame, { t: T }>
type Started = Omit<FrameOf<'start'>, 'run_id' | 'idx' | 't'>

export type { RunTool } from '#shared/api/agents/run-frames'

/** `sending`: asked, not accepted yet. `refused`: the question was not accepted. The others come from the frames. */
export type RunStatus = 'sending' | 'running' | 'done' | 'failed' | 'cancelled' | 'refused'

/** An answer as of the frame `idx`. Immutable: every change creates a new object. */
export interface RunState {
  readonly status: RunStatus
  readonly runId: string | null
  /** What was asked. */
  readonly message: string
  /** The last applied frame; -1 before the first. */
  readonly idx: number
  readonly text: string
  /** Who answers, by which model; null until it has begun. */
  readonly started: Started | null
  /** What is being done now; null once the answer has ended. */
  readonly phase: Pick<FrameOf<'status'>, 'phase' | 'detail'> | null
  readonly tools: readonly RunTool[]
  readonly citations: readonly Citation[]
  /** The pages that it rests on, where the model has searched the web. */
  readonly sources: readonly WebSource[]
  readonly scheduling: Scheduling | null
  /** Why it ends before its end; null where it is whole. */
  readonly cutShort: CutShort | null
  readonly usage: FrameOf<'done'>['usage'] | null
  /** Why it failed or was refused. */
  readonly error: { readonly code: string; readonly text: string; readonly retryAfter?: number } | null
  /** True while no server tells of it: it may go on meanwhile. */
  readonly isCutOff: boolean
}

export const newRun = (message: string, runId: string | null): RunState => ({
  status: runId === null ? 'sending' : 'running',
  runId,
  message,
  idx: -1,
  text: '',
  started: null,
  phase: null,
  tools: [],
  citations: [],
  sources: [],
  scheduling: null,
  cutShort: null,
  usage: null,
  error: null,
  isCutOff: false,
})

export const isOver = ({ status }: RunState): boolean => status !== 'sending' && status !== 'running'

/** Applies frames by their `idx`: what was applied already changes nothing, and what lies behind a gap is not applied. */
export function applyFrames(state: RunState, frames: readonly RunFrame[]): RunState {
  return frames.reduce((now, frame) => (frame.idx === now.idx + 1 && !isOver(now) ? applied(now, frame) : now), state)
}

function applied(before: RunState, frame: RunFrame): RunState {
  const state = { ...before, idx: frame.idx }
  switch (frame.t) {
    case 'start': {
      const { agent, model, scripted, message_id } = frame
      return { ...state, started: { agent, model, scripted, message_id } }
    }
    case 'status':
      return { ...state, phase: { phase: frame.phase, detail: frame.detail } }
    case 'tool':
      return { ...state, tools: withTool(state.tools, frame) }
    case 'citation': {
      const { n, knowledge_id, title, url, chunk } = frame
      return { ...state, citations: [...state.citations, { n, knowledge_id, title, url, chunk }] }
    }
    case 'source':
      return { ...state, sources: [...state.sources, { url: frame.url, title: frame.title }] }
    case 'chunk':
      return { ...state, text: state.text.slice(0, frame.off) + frame.text }
    case 'scheduling':
      return { ...state, scheduling: frame.scheduling }
    case 'done': {
      const { message: text, usage, cut_short: cutShort = null } = frame
      const scheduling = frame.scheduling ?? state.scheduling
      return { ...state, status: 'done', phase: null, text, usage, scheduling, cutShort }
    }
    case 'error': {
      const { code, text, message = state.text } = frame
      return { ...state, status: 'failed', phase: null, text: message, error: { code, text } }
    }
    case 'cancelled':
      return { ...state, status: 'cancelled', phase: null }
    // A newer server tells of more.
    default:
      return state
  }
}
