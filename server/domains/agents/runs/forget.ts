import type { Node } from '#server/kernel/context'
import { forgottenPlace, RunFrames, Runs, type StoredRun } from './model.ts'
import { stopAndWait } from './stop.ts'

const atOnce = 200

/**
 * Deletes all text of a conversation; what is being written of it is stopped first. The runs stay without their text, as the answers of an
 * agent are counted by them.
 */
export async function forgetConversation(
  node: Node,
  conversation: Pick<StoredRun, 'agent_id' | 'account' | 'place'>,
): Promise<void> {
  for (;;) {
    const runs = await Runs.find(conversation).limit(atOnce).lean<StoredRun[]>()
    if (runs.length === 0) return
    await Promise.all(runs.map((run) => stopAndWait(node, run, conversation.account)))
    await forgetRuns(runs.map(({ _id }) => _id))
  }
}

/** Also of what is being written: nothing of a forgotten run is stored at its end, and nobody takes it up again. */
export async function forgetRuns(ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await RunFrames.deleteMany({ run_id: { $in: ids } })
  const nothing = {
    place: forgottenPlace,
    message: '',
    content: '',
    citations: [],
    sources: [],
    tools: [],
    scheduling: null,
  }
  await Runs.updateMany({ _id: { $in: ids } }, { $set: nothing, $unset: { to_say: 1 } })
}
