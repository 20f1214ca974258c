import { houseAccount } from '#server/domains/accounts/accounts'
import { deceptionByRoom } from '#server/domains/accounts/names'
import {
  capabilities,
  type Judging,
  judgeMessage,
  type MessageDraft,
  type Refusal,
  type RoomState,
  type Ruling,
  remarkFault,
  verdictOf,
  wordFault,
} from '#server/domains/verdict/verdict'
import { type BlockedWord, compileWords, type WordList } from '#server/domains/verdict/words'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { GLOBAL, type View } from '#server/log/types'
import type { Verdict } from '#shared/api/verdict'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo, isForModerators } from '#shared/kit/room-kinds'
import { isUnlisted, mayRead } from './access.ts'
import {
  type BanFact,
  banIn,
  blocksIn,
  lastMessageIn,
  muteIn,
  type RoomFact,
  refOf,
  roomIn,
  rulesIn,
  sealingOf,
  type WordFact,
  wordsIn,
} from './facts.ts'
import { isSuspended, type Standing, standingOf } from './standing.ts'

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
  return {
    sealed: sealingOf(view),
    forModerators: isForModerators(type) || isTold(view, account),
    now,
    ahead: Math.max(0, now - node.now()),
    judgedSeq: isRead(view, standing, ban) ? view.seq : 0,
    suspended: isSuspended(view, account),
    ban: ban && until(ban.banned_until),
    blocked: blocksIn(view).length > 0,
    member: isMember,
    archived: room?.is_active === false,
    mute: mute && until(mute.muted_until),
    moderator: isModerator,
    rules,
    ...judgingOf(node, view),
    lastMessageAt: rules.slow_mode_seconds > 0 ? lastMessageIn(view, account, now) : null,
    sender: account,
    storage: { publicUrl: node.settings.storageUrl, missing },
  }
}

/** Who may not read a room learns nothing from it by counting either. */
function isRead(view: View, standing: Standing, ban: BanFact | null): boolean {
  const room = roomIn(view)
  if (ban !== null || room === null) return false
  return standing.isMember || (!isUnlisted(view, room) && mayRead(view, standing))
}

/** Is it the conversation in which Plaza itself tells this account something? Nobody would read an answer. */
function isTold(view: View, account: string): boolean {
  const { type, id } = refOf(view)
  return isBetweenTwo(type) && !isSameAccount(account, houseAccount) && peersOf(id).includes(houseAccount)
}

/** What words are judged by in this room. */
const judgingOf = (node: Node, view: View): Judging => ({
  words: wordListsOf(node, view),
  steps: node.settings.verdictSteps,
})

/** The words that are blocked everywhere, then those that are blocked here. */
export const wordListsOf = (node: Node, view: View): readonly WordList[] => [
  compiled(node, wordsIn(view.global), 'global'),
  ...(view.room === GLOBAL ? [] : [compiled(node, wordsIn(view), 'room')]),
]

const listsOf = nodeState(() => ({
  compiled: new WeakMap<readonly WordFact[], WordList>(),
  leftOut: new Map<string, string>(),
}))

/** Why a word that is stored is not in use; null where it is. Known after its list has been read. */
export const leftOutBecause = (node: Node, wordId: string): string | null => listsOf(node).leftOut.get(wordId) ?? null

const blocked = new WeakMap<WordFact, BlockedWord>()

/** The same objects for the same facts, so that what is known of a word is kept for as long as it is in a list. */
function blockedAmong(words: readonly WordFact[], scope: 'global' | 'room'): BlockedWord[] {
  return words.map((fact) => {
    const known = blocked.get(fact)
    if (known) return known
    const { word_id: id, word, action, is_regex, as_written = false } = fact
    const made = { id, word, action, is_regex, as_written, scope }
    blocked.set(fact, made)
    return made
  })
}

/** The words that are blocked in this view alone: of everywhere, or of a room. */
export const blockedIn = (view: View): readonly BlockedWord[] =>
  blockedAmong(wordsIn(view), view.room === GLOBAL ? 'global' : 'room')

/** A list is compiled once for as long as it stays the same. */
function compiled(node: Node, words: readonly WordFact[], scope: 'global' | 'room'): WordList {
  const { compiled, leftOut } = listsOf(node)
  const known = compiled.get(words)
  if (known) return known
  for (const { word_id } of words) leftOut.delete(word_id)
  const list = compileWords(blockedAmong(words, scope), (word, reason) => {
    leftOut.set(word, reason)
    node.logger.warn({ word, reason }, 'a blocked word is out of use')
  })
  compiled.set(words, list)
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
export function refuseNames(
  node: Node,
  view: View,
  account: string,
  fields: { name?: string | undefined; category?: string | undefined },
): void {
  const before = roomIn(view)
  for (const path of ['name', 'category'] as const) {
    const said = fields[path]
    const deception = said === undefined || said === before?.[path] ? null : deceptionByRoom(said)
    if (deception !== null && !standingOf(view, account).isAdmin)
      throw new AppError('VALIDATION_ERROR', {
        message: `This ${path} is not allowed. ${deception}`,
        details: { path },
      })
  }
  const texts = Object.values(fields).filter((value) => typeof value === 'string')
  refuseWords(node, view, texts)
}

/** Judges words by what is blocked in a room, or everywhere. */
export const refuseWords = (node: Node, view: View, texts: readonly string[]): void =>
  refuseWith(wordFault(texts, judgingOf(node, view)), view.room === GLOBAL ? 0 : view.seq)

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
