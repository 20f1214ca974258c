import { isDuplicate } from '#server/ports/database/port'
import { type FrameBody, isTerminal, type RunFrame, type RunTool, type WebSource } from '#shared/api/agents/run-frames'
import { withTool } from '#shared/api/agents/run-tools'
import { RunFrames, type StoredFrames, type StoredRun } from './model.ts'

const keptMilliseconds = 7 * 86_400_000
const idDigits = 7

const frameId = (run: string, from: number) => `${run} ${String(from).padStart(idDigits, '0')}`

export const storedFrames = (
  run: string,
  from: number,
  frames: FrameBody[],
  node: string,
  now: number,
): StoredFrames => ({
  _id: frameId(run, from),
  run_id: run,
  from_idx: from,
  to_idx: from + frames.length - 1,
  node,
  frames,
  expires_at: new Date(now + keptMilliseconds),
})

/** The frames of a run from one on, in order. */
export async function framesFrom(run: string, from: number): Promise<FrameBody[]> {
  const found = await RunFrames.find({ run_id: run, to_idx: { $gte: from } })
    .sort({ to_idx: 1 })
    .lean<StoredFrames[]>()
  return found.flatMap((one) => one.frames.slice(Math.max(0, from - one.from_idx)))
}

/** Stores frames of several runs in one write. Returns runs that another node has ended. A repeated write recognizes its own rows. */
export async function storeFrames(all: readonly StoredFrames[]): Promise<Set<string>> {
  try {
    await RunFrames.insertMany(all, { ordered: false })
    return new Set()
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const there = await RunFrames.find({ _id: { $in: all.map(({ _id }) => _id) } }).lean<StoredFrames[]>()
    const owners = new Map(there.map(({ _id, node }) => [_id, node]))
    const absent = all.some(({ _id }) => !owners.has(_id))
    // A majority does not have it yet: the next try will know.
    if (absent) throw error
    return new Set(all.filter(({ _id, node }) => owners.get(_id) !== node).map(({ run_id }) => run_id))
  }
}

/** The outcome of frames. */
export function runOutcomeOf(frames: readonly FrameBody[]): Outcome {
  const last = frames.at(-1)
  const end = last && isTerminal(last) ? last : null
  const outcome: Outcome = { end, text: '', citations: [], sources: [], tools: [], scheduling: null }
  for (const frame of frames) keep(outcome, frame)
  return outcome
}

interface Outcome extends Pick<StoredRun, 'citations' | 'scheduling'> {
  text: string
  end: FrameBody | null
  sources: WebSource[]
  tools: RunTool[]
}

function keep(outcome: Outcome, frame: FrameBody): void {
  switch (frame.t) {
    case 'chunk':
      outcome.text = outcome.text.slice(0, frame.off) + frame.text
      return
    case 'citation': {
      const { t: _, ...citation } = frame
      outcome.citations.push(citation)
      return
    }
    case 'source':
      outcome.sources.push({ url: frame.url, title: frame.title })
      return
    case 'tool':
      outcome.tools = withTool(outcome.tools, frame)
      return
    case 'scheduling':
      outcome.scheduling = frame.scheduling
      return
    // Other frames add nothing before the end.
    case 'start':
    case 'status':
    case 'done':
    case 'error':
    case 'cancelled':
      return
    default:
      frame satisfies never
  }
}

/** The frames of a run that this node knows, and the readers who wait for more. */
export class FrameLog {
  readonly id: string
  readonly frames: FrameBody[] = []
  /** The number of stored frames, for runs of this node. */
  stored = 0
  readonly #waiting = new Set<() => void>()

  constructor(id: string) {
    this.id = id
  }

  get isOver(): boolean {
    const last = this.frames.at(-1)
    return last !== undefined && isTerminal(last)
  }

  /** Adds new frames from an idx; false if earlier ones are missing. */
  take(from: number, frames: readonly FrameBody[]): boolean {
    if (from > this.frames.length) return false
    const fresh = frames.slice(this.frames.length - from)
    if (fresh.length === 0) return true
    this.frames.push(...fresh)
    this.#wake()
    return true
  }

  /** Replaces the frames by the stored ones of an ended run. */
  endWith(kept: readonly FrameBody[]): void {
    this.frames.splice(0, this.frames.length, ...kept)
    this.#wake()
  }

  /** Resolves when the frame exists, at an abort, or after some time. */
  async reached(idx: number, signal: AbortSignal, milliseconds: number): Promise<void> {
    if (this.frame(idx) || signal.aborted) return
    await new Promise<void>((resolve) => {
      const over = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', over)
        this.#waiting.delete(over)
        resolve()
      }
      const timer = setTimeout(over, milliseconds)
      signal.addEventListener('abort', over)
      this.#waiting.add(over)
    })
  }

  /** The frame at an idx, or null. Past the end of a lost run it is that end, as its node may have sent more. */
  frame(idx: number): RunFrame | null {
    const body = this.frames[idx] ?? this.#endOfLost()
    return body ? ({ run_id: this.id, idx, ...body } as RunFrame) : null
  }

  /** The frames from an idx on, up to a limit. */
  framesFrom(from: number, most: number): RunFrame[] {
    const found: RunFrame[] = []
    for (let idx = from; found.length < most; idx++) {
      const frame = this.frame(idx)
      if (frame) found.push(frame)
      if (!frame || isTerminal(frame)) break
    }
    return found
  }

  #endOfLost(): FrameBody | null {
    const last = this.frames.at(-1)
    return last?.t === 'error' && last.message !== undefined ? last : null
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
