import type { Node } from '#server/kernel/context'
import { forgotten, RunFrames, Runs, type StoredRun } from './model.ts'
import { askToStop } from './stop.ts'

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
    await Promise.all(runs.map((run) => askToStop(node, run, conversation.account)))
    const ids = runs.map(({ _id }) => _id)
    await RunFrames.deleteMany({ run_id: { $in: ids } })
    await Runs.updateMany(
      { _id: { $in: ids } },
      { $set: { place: forgotten, message: '', content: '', citations: [], sources: [], tools: [], scheduling: null } },
    )
  }
}
