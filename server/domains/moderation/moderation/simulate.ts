import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { judgeMessage, type SenderFacts } from '#server/domains/moderation/verdict/verdict'
import { compileWords, tryPattern } from '#server/domains/moderation/verdict/words'
import { draftOfBody } from '#server/domains/rooms/messages/drafts'
import { messagesOf } from '#server/domains/rooms/messages/pages'
import { readRoom } from '#server/domains/rooms/room-state/access'
import { type MessageFact, messageFactOf } from '#server/domains/rooms/room-state/facts'
import { senderFactsOf } from '#server/domains/rooms/room-state/sender-facts'
import type { Action } from '#server/kernel/context'
import { createTurnstile } from '#server/kernel/limits/turnstile'
import { nodeState } from '#server/kernel/operate/node-state'
import { messagesBetween as rowsBetween } from '#server/log/store'
import type { moderation as contract } from '#shared/api/moderation/moderation'
import { defaultRules, type Rules } from '#shared/api/moderation/verdict'
import { AppError } from '#shared/errors'

const sampled = 20
const page = 200
/** The time limit of one dry run; further messages are not tested. */
const mostMilliseconds = 2_000
/** Dry runs judge one message at a time, with other work in between. */
const turnOf = nodeState(createTurnstile)

/** The verdicts that the last messages would get from the proposal alone. */
export const simulate: Action<typeof contract.simulate> = async (
  { room, word, is_regex = false, as_written = false, rules, last },
  context,
) => {
  const tried = is_regex && word !== undefined ? tryPattern(word, []) : { ok: true as const }
  if (!tried.ok) throw new AppError('VALIDATION_ERROR', { message: tried.reason })
  const proposal = proposalOf(word, is_regex, as_written)
  const { key, also, standing } = await readRoom(context.node, context.caller, room, (view, { now }) => ({
    total: view.total,
    facts: senderFactsOf(view, { node: context.node, account: context.caller.account ?? '', now }),
  }))
  if (!standing?.canManageMods) throw new AppError('FORBIDDEN', { message: 'You may not manage this room' })
  await context.charge(Math.min(last, also.total))
  const facts: SenderFacts = {
    ...also.facts,
    suspended: false,
    ban: null,
    mute: null,
    member: true,
    moderator: false,
    lastMessageAt: null,
    sealed: null,
    // All else is allowed, so only the proposal refuses.
    rules: { ...defaultRules, ...(rules as Partial<Rules> | undefined) },
    words: proposal,
  }
  const { sealed } = also.facts
  const { signal } = context
  const hits: MessageFact[] = []
  let tested = 0
  let milliseconds = 0
  for await (const fact of lastMessages(key, also.total, last)) {
    if (isUnreadable(sealed, fact.body.text)) continue
    await turnOf(context.node)()
    if (signal.aborted || milliseconds > mostMilliseconds) break
    const started = performance.now()
    const { verdict } = judgeMessage(draftOfBody(fact.body), { ...facts, sender: fact.sender })
    milliseconds += performance.now() - started
    tested += 1
    if (!verdict.ok) hits.unshift(fact)
  }
  return {
    tested,
    hits: hits.length,
    authors: new Set(hits.map(({ sender }) => sender)).size,
    sample: await messagesOf(key, hits.slice(-sampled), true),
    milliseconds: Math.round(milliseconds * 100) / 100,
  }
}

function proposalOf(given: string | undefined, is_regex: boolean, as_written: boolean) {
  if (given === undefined) return []
  const word = is_regex ? given : given.toLowerCase()
  return [compileWords([{ id: 'proposal', word, action: 'block', scope: 'room', is_regex, as_written }])]
}

/** Newest first. */
async function* lastMessages(key: string, total: number, last: number): AsyncGenerator<MessageFact> {
  const from = Math.max(1, total - last + 1)
  for (let to = total; to >= from; to -= page)
    for (const row of (await rowsBetween(key, Math.max(from, to - page + 1), to)).reverse()) {
      const fact = messageFactOf(row)
      if (!fact.body.deleted) yield fact
    }
}
