import { beginRun, type OpenRun, type RunEnding, type RunRequest } from '#server/domains/agents/runs/begin'
import type { StoredRun } from '#server/domains/agents/runs/model'
import type { Node } from '#server/kernel/context'

/** Works on a question in the place of a model. */
export type Work = (run: StoredRun, tell: OpenRun['tell'], signal: AbortSignal) => Promise<RunEnding>

/** Begins a run that is worked on so. */
export async function beginWork(node: Node, ask: RunRequest, work: Work): Promise<StoredRun> {
  const { run, open } = await beginRun(node, ask)
  if (open) void open.endWith(work(run, open.tell, open.signal))
  return run
}
