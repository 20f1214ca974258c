import type { Node } from '#server/kernel/context'
import { forgottenPlace, RunFrames, Runs, type StoredRun } from './model.ts'
import { stopAndWait } from './stop.ts'

const atOnce = 200

/** Deletes the text of a conversation after stopping its runs. The runs stay, as answers are counted by them. */
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

/** Forgets runs, also running ones, which store nothing at their end. */
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
