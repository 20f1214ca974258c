import type { Node } from '#server/kernel/context'
import type { QueryFilter } from '#server/ports/database/port'
import { conversationOf } from './history.ts'
import { forgottenPlace, RunFrames, Runs, type StoredRun } from './model.ts'
import { stopAndWait } from './stop.ts'

const atOnce = 200

/** Deletes the text of questions and answers after stopping them. The runs stay, as answers are counted by them. */
export async function forgetQuestions(node: Node, among: QueryFilter<StoredRun>, by: string): Promise<void> {
  for (;;) {
    const runs = await Runs.find(among).limit(atOnce).lean<StoredRun[]>()
    if (runs.length === 0) return
    await Promise.all(runs.map((run) => stopAndWait(node, run, by)))
    await forgetRuns(runs.map(({ _id }) => _id))
  }
}

/** Deletes what a question replaces: an earlier one of its conversation, and all between them. */
export async function forgetReplaced(node: Node, run: StoredRun): Promise<void> {
  const { replaces, _id, account } = run
  if (replaces === undefined) return
  await forgetQuestions(node, { ...conversationOf(run), _id: { $gte: replaces, $lt: _id } }, account)
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
  await Runs.updateMany({ _id: { $in: ids } }, { $set: nothing, $unset: { to_say: 1, rating: 1 } })
}
