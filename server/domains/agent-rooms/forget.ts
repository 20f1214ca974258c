import { messageIn } from '#server/domains/room-state/facts'
import { inRoom } from '#server/domains/runs/history'
import { forgotten, RunFrames, Runs } from '#server/domains/runs/model'
import type { Node } from '#server/kernel/context'
import { idOfAgent } from '#shared/kit/room-agents'

const atOnce = 200

/** Deletes the text of a question that was deleted in its room, and of what was answered to it. */
export async function forgetQuestion(key: string, messageId: string): Promise<void> {
  const asked = { place: inRoom(key), client_run_id: { $gte: `${messageId}:`, $lt: `${messageId};` } }
  const runs = await Runs.find(asked).select({ _id: 1 }).lean<{ _id: string }[]>()
  await forget(runs.map(({ _id }) => _id))
}

/** The same for the questions of one person that a purge has taken; of a purged agent, for all that it was asked there. */
export async function forgetPurged(node: Node, key: string, target: string): Promise<void> {
  const agent = idOfAgent(target)
  const ofTarget = agent === null ? { account: target } : { agent_id: agent }
  for (let after = ''; ; ) {
    const runs = await Runs.find({ place: inRoom(key), ...ofTarget, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(atOnce)
      .select({ client_run_id: 1 })
      .lean<{ _id: string; client_run_id: string }[]>()
    const last = runs.at(-1)
    if (!last) return
    const isTaken = await node.log.ask(key, (view) =>
      runs.map(({ client_run_id }) => {
        const message = messageIn(view, client_run_id.split(':')[0] ?? '')
        return !message || message.body.deleted !== null
      }),
    )
    await forget(runs.flatMap(({ _id }, at) => (agent !== null || isTaken[at] ? [_id] : [])))
    after = last._id
  }
}

/** Also of what is being written: nothing of a forgotten run is stored at its end, and nobody takes it up again. */
export async function forget(ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await RunFrames.deleteMany({ run_id: { $in: ids } })
  const nothing = {
    place: forgotten,
    message: '',
    content: '',
    citations: [],
    sources: [],
    tools: [],
    scheduling: null,
  }
  await Runs.updateMany({ _id: { $in: ids } }, { $set: nothing, $unset: { to_say: 1 } })
}
