import { draftOfBody } from '#server/domains/messages/drafts'
import { messagesOf } from '#server/domains/messages/pages'
import { readRoom } from '#server/domains/room-state/access'
import { messageFactOf } from '#server/domains/room-state/facts'
import { stateOf } from '#server/domains/room-state/state'
import { isUnreadable } from '#server/domains/verdict/sealed-text'
import { judgeMessage, type RoomState } from '#server/domains/verdict/verdict'
import { checkPattern, compileWords } from '#server/domains/verdict/words'
import type { Action } from '#server/kernel/context'
import { messages as rowsBetween } from '#server/log/store'
import type { moderation as contract } from '#shared/api/moderation'
import type { Rules } from '#shared/api/verdict'
import { AppError } from '#shared/errors'

const sampled = 20
const page = 200

/** The verdict each of the last messages would have got, were only the proposal to decide. */
export const simulate: Action<typeof contract.simulate> = async (
  { room, word, is_regex = false, rules, last },
  context,
) => {
  const checked = is_regex && word !== undefined ? checkPattern(word) : { ok: true as const }
  if (!checked.ok) throw new AppError('VALIDATION_ERROR', { message: `Invalid regex: ${checked.reason}` })
  const proposal = proposalOf(word, is_regex)
  const { key, also, standing } = await readRoom(context.node, context.caller, room, (view, { now }) => ({
    total: view.total,
    state: stateOf(view, context.caller.account ?? '', now, context.node),
  }))
  if (!standing?.canManageMods) throw new AppError('FORBIDDEN', { message: 'You may not manage this room' })
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
  const facts = (await lastMessages(key, also.total, last)).filter(({ body }) => !isUnreadable(sealed, body.text))
  const started = performance.now()
  const hits = facts.filter(({ sender, body }) => !judgeMessage(draftOfBody(body), { ...state, sender }).verdict.ok)
  const milliseconds = performance.now() - started
  return {
    tested: facts.length,
    hits: hits.length,
    authors: new Set(hits.map(({ sender }) => sender)).size,
    sample: await messagesOf(key, hits.slice(-sampled), true),
    milliseconds: Math.round(milliseconds * 100) / 100,
  }
}

const proposalOf = (word: string | undefined, is_regex: boolean) =>
  word === undefined
    ? []
    : [
        compileWords([
          { id: 'proposal', word: is_regex ? word : word.toLowerCase(), action: 'block', scope: 'room', is_regex },
        ]),
      ]

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

async function lastMessages(key: string, total: number, last: number) {
  const from = Math.max(1, total - last + 1)
  const facts = []
  for (let at = from; at <= total; at += page)
    facts.push(...(await rowsBetween(key, at, Math.min(total, at + page - 1))).map(messageFactOf))
  return facts.filter(({ body }) => !body.deleted)
}
