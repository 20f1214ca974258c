import { draftOfBody } from '#server/domains/messages/drafts'
import { messagesOf } from '#server/domains/messages/pages'
import { readRoom } from '#server/domains/room-state/access'
import { type MessageFact, messageFactOf } from '#server/domains/room-state/facts'
import { stateOf } from '#server/domains/room-state/state'
import { isUnreadable } from '#server/domains/verdict/sealed-text'
import { judgeMessage, type RoomState } from '#server/domains/verdict/verdict'
import { compileWords, tryPattern } from '#server/domains/verdict/words'
import type { Action } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { createTurnstile } from '#server/kernel/turnstile'
import { messages as rowsBetween } from '#server/log/store'
import type { moderation as contract } from '#shared/api/moderation'
import type { Rules } from '#shared/api/verdict'
import { AppError } from '#shared/errors'

const sampled = 20
const page = 200
/** How long one dry run may judge; what it has not come to by then is not tested. */
const mostMilliseconds = 2_000
/** Dry runs judge one message at a time, with everything else between two of them. */
const turnOf = nodeState(createTurnstile)

/** The verdict each of the last messages would have got, were only the proposal to decide. */
export const simulate: Action<typeof contract.simulate> = async (
  { room, word, is_regex = false, as_written = false, rules, last },
  context,
) => {
  const tried = is_regex && word !== undefined ? tryPattern(word, []) : { ok: true as const }
  if (!tried.ok) throw new AppError('VALIDATION_ERROR', { message: tried.reason })
  const proposal = proposalOf(word, is_regex, as_written)
  const { key, also, standing } = await readRoom(context.node, context.caller, room, (view, { now }) => ({
    total: view.total,
    state: stateOf(view, context.caller.account ?? '', now, context.node),
  }))
  if (!standing?.canManageMods) throw new AppError('FORBIDDEN', { message: 'You may not manage this room' })
  await context.charge(Math.min(last, also.total))
  const state: RoomState = {
    ...also.state,
    suspended: false,
    ban: null,
    mute: null,
    member: true,
    moderator: false,
    lastMessageAt: null,
    sealed: null,
    rules: { ...withoutRules(also.state.rules), ...(rules as Partial<Rules> | undefined) },
    words: proposal,
  }
  const sealed = also.state.sealed
  const { signal } = context
  const hits: MessageFact[] = []
  let tested = 0
  let milliseconds = 0
  for await (const fact of lastMessages(key, also.total, last)) {
    if (isUnreadable(sealed, fact.body.text)) continue
    await turnOf(context.node)()
    if (signal.aborted || milliseconds > mostMilliseconds) break
    const started = performance.now()
    const { verdict } = judgeMessage(draftOfBody(fact.body), { ...state, sender: fact.sender })
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

/** Everything allowed, so that what is refused is refused by the proposal. */
const withoutRules = (rules: Rules): Rules => ({
  ...rules,
  links_allowed: 'everyone',
  photos_allowed: 'everyone',
  pixel_art_allowed: 'everyone',
  gifs_allowed: 'everyone',
  polls_allowed: 'everyone',
  location_sharing_allowed: 'everyone',
  voice_allowed: 'everyone',
  read_only: false,
  slow_mode_seconds: 0,
  max_message_length: 0,
})

/** Newest first. */
async function* lastMessages(key: string, total: number, last: number): AsyncGenerator<MessageFact> {
  const from = Math.max(1, total - last + 1)
  for (let to = total; to >= from; to -= page)
    for (const row of (await rowsBetween(key, Math.max(from, to - page + 1), to)).reverse()) {
      const fact = messageFactOf(row)
      if (!fact.body.deleted) yield fact
    }
}
