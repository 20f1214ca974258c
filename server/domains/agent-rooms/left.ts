import { messageIn } from '#server/domains/room-state/facts'
import { Questions, type StoredQuestion } from '#server/domains/room-state/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { answersTo, mentionOf } from './follow.ts'
import { allBegun } from './questions.ts'

const lookMilliseconds = 1_000
const atOnce = 100
/** The node that took a message begins the answers at once; another one does so where that has not happened for so long. */
const lateMilliseconds = 4_000
/** What was asked so long ago is not answered any more. */
const staleMilliseconds = 600_000

/** Begins the answers to messages whose node died before it had begun them. */
export function beginWhatWasLeft(node: Node): () => void {
  async function look(): Promise<void> {
    const now = new Date(node.now())
    const left = { due_at: { $exists: true, $lt: new Date(node.now() - lateMilliseconds) } }
    const found = await Questions.find(left).sort({ due_at: 1 }).limit(atOnce).lean<StoredQuestion[]>()
    for (const { _id } of found) {
      const taken = await Questions.findOneAndUpdate({ _id, ...left }, { $set: { due_at: now } }).lean<StoredQuestion>()
      if (taken) begin(taken)
    }
  }

  function begin(question: StoredQuestion): void {
    beginLate(node, question).catch((error: unknown) => node.logger.warn({ error }, 'a mention was not answered'))
  }
  return every(node, lookMilliseconds, look, 'mentions of lost nodes were not looked for')
}

async function beginLate(node: Node, { _id, room, at }: StoredQuestion): Promise<void> {
  const isStale = node.now() - at.getTime() > staleMilliseconds
  const message = isStale ? null : await node.log.ask(room, (view) => messageIn(view, _id))
  if (!message || message.body.deleted) return allBegun(_id, room, at)
  await answersTo(node, mentionOf(room, message))
}
