import { isDeceptiveRoom } from '#server/domains/accounts/names'
import {
  capabilities,
  judgeMessage,
  type MessageDraft,
  type Refusal,
  type RoomState,
  type Ruling,
  remarkFault,
  verdictOf,
  wordFault,
} from '#server/domains/verdict/verdict'
import { compileWords, type WordList } from '#server/domains/verdict/words'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { GLOBAL, type View } from '#server/log/types'
import type { Verdict } from '#shared/api/verdict'
import { AppError } from '#shared/errors'
import { isForModerators } from '#shared/kit/room-kinds'
import {
  banIn,
  blocksIn,
  clockIn,
  muteIn,
  type RoomFact,
  refOf,
  roomIn,
  rulesIn,
  sealingOf,
  type WordFact,
  wordsIn,
} from './facts.ts'
import { isSuspended, standingOf } from './standing.ts'

const nothing: ReadonlySet<string> = new Set()
const until = (time: string | null) => ({ until: time === null ? null : Date.parse(time) })

/** All that a verdict on this person in this room rests on. */
export function stateOf(
  view: View,
  account: string,
  now: number,
  node: Node,
  standing = standingOf(view, account),
  missing: ReadonlySet<string> = nothing,
): RoomState {
  const room = roomIn(view)
  const { type } = refOf(view)
  const ban = banIn(view, account, now)
  const mute = muteIn(view, account, now)
  const { isMember, isModerator } = standing
  const rules = rulesIn(view)
  const clock = rules.slow_mode_seconds > 0 ? clockIn(view, account) : null
  return {
    sealed: sealingOf(view),
    forModerators: isForModerators(type),
    now,
    judgedSeq: view.seq,
    suspended: isSuspended(view, account),
    ban: ban && until(ban.banned_until),
    blocked: blocksIn(view).length > 0,
    member: isMember,
    archived: room?.is_active === false,
    mute: mute && until(mute.muted_until),
    moderator: isModerator,
    rules,
    words: wordListsOf(node, view),
    lastMessageAt: clock?.at ?? null,
    sender: account,
    storage: { publicUrl: node.settings.storageUrl, missing },
  }
}

/** The words that are blocked everywhere, then those that are blocked here. */
export const wordListsOf = (node: Node, view: View): readonly WordList[] => [
  compiled(node, wordsIn(view.global), 'global'),
  ...(view.room === GLOBAL ? [] : [compiled(node, wordsIn(view), 'room')]),
]

const patternsOf = nodeState(() => ({
  lists: new WeakMap<readonly WordFact[], WordList>(),
  slow: new Set<string>(),
  listeners: [] as ((wordId: string, reason: string) => void)[],
}))

/** Told of each pattern that had to be taken out of use on this node. */
export const onQuarantine = (node: Node, listener: (wordId: string, reason: string) => void): void =>
  void patternsOf(node).listeners.push(listener)
export const isQuarantined = (node: Node, wordId: string): boolean => patternsOf(node).slow.has(wordId)

/** A list is compiled once for as long as it stays the same. */
function compiled(node: Node, words: readonly WordFact[], scope: 'global' | 'room'): WordList {
  const { lists, slow, listeners } = patternsOf(node)
  const known = lists.get(words)
  if (known) return known
  const usable = words.filter(({ word_id }) => !slow.has(word_id))
  const list = compileWords(
    usable.map(({ word_id: id, word, action, is_regex }) => ({ id, word, action, is_regex, scope })),
    (id, reason) => {
      if (slow.has(id)) return
      slow.add(id)
      for (const listener of listeners) listener(id, reason)
    },
  )
  lists.set(words, list)
  return list
}

/** The refusal of a ruling, with its whole explanation. */
export function refusalOf({ verdict, retryAfter }: Ruling): AppError {
  const wait = retryAfter === null ? {} : { retryAfter }
  return new AppError(verdict.code ?? 'MESSAGE_REJECTED', { message: verdict.text ?? '', verdict, ...wait })
}

/** Judges a change of what was sent before, for which slow mode does not wait again. */
export function refuseChange(draft: MessageDraft, state: RoomState): Ruling {
  const ruling = judgeMessage(draft, { ...state, lastMessageAt: null })
  if (!ruling.verdict.ok) throw refusalOf(ruling)
  return ruling
}

/** Who is muted says nothing in the name of the room either. */
export function refuseMuted(view: View, account: string, now: number): void {
  const mute = muteIn(view, account, now)
  if (mute) throw new AppError('MUTED', { details: { until: mute.muted_until } })
}

/** The icon of the channel of an event, or of a collection, is part of what people know it by. */
export function refuseLockedIcon({ gate }: RoomFact): void {
  if (gate?.by === 'attendance')
    throw new AppError('FORBIDDEN', { message: 'The icon of an attendance channel is that of its token' })
}

/** Judges words that go along with a message: a reaction, or the reason for deleting it. */
export const refuseRemark = (text: string, state: RoomState): void =>
  refuseWith(remarkFault(text, state), state.judgedSeq)

/**
 * Judges what a room says of itself, in the room or, where there is none yet, by what is blocked everywhere. Only admins give a
 * room a name that passes for one of the service.
 */
export function refuseNames(node: Node, view: View, account: string, fields: { name?: string | undefined }): void {
  const isNew = fields.name !== undefined && fields.name !== roomIn(view)?.name
  if (isNew && isDeceptiveRoom(fields.name ?? '') && !standingOf(view, account).isAdmin)
    throw new AppError('VALIDATION_ERROR', { message: 'This name is not allowed', details: { path: 'name' } })
  const texts = Object.values(fields).filter((value) => typeof value === 'string')
  refuseWith(wordFault(texts, wordListsOf(node, view)), view.seq)
}

function refuseWith(fault: Refusal | null, judgedSeq: number): void {
  if (fault === null) return
  const verdict = verdictOf(fault, judgedSeq)
  throw new AppError(fault.code, { message: verdict.text ?? '', verdict })
}

/** What a member may send now, as the composer is told. */
export function capabilitiesOf(view: View, account: string, now: number, node: Node) {
  const { capabilities: may, next_send_at, max_length } = capabilities(stateOf(view, account, now, node))
  return { capabilities: may, next_send_at, max_length, rules_version: rulesIn(view).version }
}

export const acceptedAt = (seq: number): Verdict => ({
  ok: true,
  step: null,
  code: null,
  status: 200,
  text: null,
  rule: null,
  until: null,
  judged_seq: seq,
})

export type { MessageDraft, Ruling }
