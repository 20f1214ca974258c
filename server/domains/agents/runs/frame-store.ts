import { isDuplicate } from '#server/ports/database/port'
import { type FrameBody, isTerminal, type RunTool, type WebSource } from '#shared/api/agents/run-frames'
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
