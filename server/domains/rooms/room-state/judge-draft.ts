import {
  capabilitiesIn,
  judgeMessage,
  type MessageDraft,
  type Refusal,
  type Ruling,
  remarkFault,
  type SenderFacts,
  verdictOf,
  type WordJudging,
  wordFault,
} from '#server/domains/moderation/verdict/verdict'
import { type BlockedWord, compileWords, type WordList } from '#server/domains/moderation/verdict/words'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { deceptionByLabel, deceptionByRoom } from '#server/domains/people/accounts/names'
import type { Node } from '#server/kernel/context'
import { judgingBudgetOf } from '#server/kernel/limits/budgets'
import { nodeState } from '#server/kernel/operate/node-state'
import { GLOBAL, type View } from '#server/log/types'
import type { Verdict } from '#shared/api/moderation/verdict'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo, isForModerators, roomKinds } from '#shared/kit/room-kinds'
import { isUnlisted, mayRead } from './access.ts'
import {
  type BanFact,
  banIn,
  blocksIn,
  lastMessageIn,
  muteIn,
  type RoomFact,
  roomIn,
  roomRefOf,
  rulesIn,
  sealingOf,
  type WordFact,
  wordsIn,
} from './facts.ts'
import { isSuspended, type Standing, standingOf } from './standing.ts'

/** The inputs of judging words of an account in this room. */
const wordJudgingOf = (node: Node, view: View, account: string): WordJudging => ({
  words: wordListsOf(node, view),
  ...judgingBudgetOf(node, account),
})

/** The globally blocked words, then those of this room. */
export const wordListsOf = (node: Node, view: View): readonly WordList[] => [
  compiled(node, wordsIn(view.global), 'global'),
  ...(view.room === GLOBAL ? [] : [compiled(node, wordsIn(view), 'room')]),
]

const listsOf = nodeState(() => ({
  compiled: new WeakMap<readonly WordFact[], WordList>(),
  leftOut: new Map<string, string>(),
}))

/** The reason why a stored word is not in use; null if it is. Known after its list was read. */
export const wordFaultOf = (node: Node, wordId: string): string | null => listsOf(node).leftOut.get(wordId) ?? null

const blocked = new WeakMap<WordFact, BlockedWord>()

/** Equal facts give the same objects, so that caches by word last as long as the list. */
function blockedWordsOf(words: readonly WordFact[], scope: 'global' | 'room'): BlockedWord[] {
  return words.map((fact) => {
    const known = blocked.get(fact)
    if (known) return known
    const { word_id: id, word, action, is_regex, as_written = false } = fact
    const made = { id, word, action, is_regex, as_written, scope }
    blocked.set(fact, made)
    return made
  })
}

/** The blocked words of this view alone: global, or of a room. */
export const blockedWordsIn = (view: View): readonly BlockedWord[] =>
  blockedWordsOf(wordsIn(view), view.room === GLOBAL ? 'global' : 'room')

/** A list is compiled once, until it changes. */
function compiled(node: Node, words: readonly WordFact[], scope: 'global' | 'room'): WordList {
  const { compiled, leftOut } = listsOf(node)
  const known = compiled.get(words)
  if (known) return known
  for (const { word_id } of words) leftOut.delete(word_id)
  const list = compileWords(blockedWordsOf(words, scope), (word, reason) => {
    leftOut.set(word, reason)
    node.logger.warn({ word, reason }, 'a blocked word is out of use')
  })
  compiled.set(words, list)
  return list
}

/** The sender of a judged draft. */
interface Sender {
  node: Node
  account: string
  /** Milliseconds on the log's clock. */
  now: number
  /** Given if the caller has it already. */
  standing?: Standing
  /** URLs in the sender's folder without a stored file. */
  missing?: ReadonlySet<string>
}

const nothing: ReadonlySet<string> = new Set()
const until = (time: string | null) => ({ until: time === null ? null : Date.parse(time) })

/** The facts about a sender in a room, on which every verdict depends. */
export function senderFactsOf(view: View, sender: Sender): SenderFacts {
  const { node, account, now, standing = standingOf(view, account), missing = nothing } = sender
  const { type } = roomRefOf(view)
  const ban = banIn(view, account, now)
  const mute = muteIn(view, account, now)
  const rules = rulesIn(view)
  return {
    sealed: sealingOf(view),
    forModerators: isForModerators(type) || isPlazaConversation(view, account),
    now,
    ahead: Math.max(0, now - node.now()),
    judgedSeq: mayCount(view, standing, ban) ? view.seq : 0,
    suspended: isSuspended(view, account),
    ban: ban && until(ban.banned_until),
    blocked: blocksIn(view).length > 0,
    // Writing makes the sender a member.
    member: standing.isMember || roomKinds[type].writingJoins,
    archived: roomIn(view)?.is_active === false,
    mute: mute && until(mute.muted_until),
    moderator: standing.isModerator,
    rules,
    ...wordJudgingOf(node, view, account),
    lastMessageAt: rules.slow_mode_seconds > 0 ? lastMessageIn(view, account, now) : null,
    sender: account,
    storage: { publicUrl: node.settings.storageUrl, missing },
  }
}

/** A sender who may not read a room must not learn its length. */
function mayCount(view: View, standing: Standing, ban: BanFact | null): boolean {
  const room = roomIn(view)
  if (ban !== null || room === null) return false
  return standing.isMember || (!isUnlisted(view, room) && mayRead(view, standing))
}

/** Nobody reads answers in Plaza's conversation with this account. */
function isPlazaConversation(view: View, account: string): boolean {
  const { type, id } = roomRefOf(view)
  return isBetweenTwo(type) && !isSameAccount(account, plazaAccount) && peersOf(id).includes(plazaAccount)
}

/** The refusal of a ruling, with its explanation. */
export function refusalOf({ verdict, retryAfter }: Ruling): AppError {
  const wait = retryAfter === null ? {} : { retryAfter }
  return new AppError(verdict.code ?? 'MESSAGE_REJECTED', { message: verdict.text ?? '', verdict, ...wait })
}

/** The ruling on a draft, and its facts. */
interface JudgedDraft {
  ruling: Ruling
  facts: SenderFacts
  standing: Standing
  /** The refusal if the room is missing or hidden from the sender; the ruling is then secret. */
  hidden: AppError | null
}

/** Judges a draft for a room, for every door and check. */
export function judgeDraft(view: View, draft: MessageDraft, sender: Sender): JudgedDraft {
  const standing = standingOf(view, sender.account)
  const facts = senderFactsOf(view, { ...sender, standing })
  const ruling = judgeMessage(draft, facts)
  return {
    ruling,
    facts,
    standing,
    hidden: mayRevealHiddenRoom(ruling) ? null : hiddenRoomError(view, standing.isMember),
  }
}

function hiddenRoomError(view: View, isMember: boolean): AppError | null {
  const room = roomIn(view)
  return room && (isMember || !isUnlisted(view, room)) ? null : new AppError('ROOM_NOT_FOUND')
}

/** A ban and a suspension are reported even for a hidden room; a block between two others is not. */
const mayRevealHiddenRoom = ({ verdict: { code } }: Ruling): boolean => code === 'BANNED' || code === 'SUSPENDED'

/** Judges a change of a sent message that `touchableMessage` admitted, and throws its refusal. Slow mode does not apply again. */
export function judgeChange(view: View, draft: MessageDraft, sender: Sender): Ruling {
  const ruling = judgeMessage(draft, { ...senderFactsOf(view, sender), member: true, lastMessageAt: null })
  if (!ruling.verdict.ok) throw refusalOf(ruling)
  return ruling
}

/** A mute also covers texts in the name of the room. */
export function refuseMuted(view: View, account: string, now: number): void {
  const mute = muteIn(view, account, now)
  if (mute) throw new AppError('MUTED', { details: { until: mute.muted_until } })
}

/** An attendance channel is recognised by its icon, which stays. */
export function refuseLockedIcon({ gate }: RoomFact): void {
  if (gate?.by === 'attendance')
    throw new AppError('FORBIDDEN', { message: 'The icon of an attendance channel is that of its token' })
}

/** Judges text beside a message: a reaction, or the reason of a deletion. */
export function refuseRemark(view: View, text: string, sender: Sender): void {
  const facts = senderFactsOf(view, sender)
  refuseWith(remarkFault(text, facts), facts.judgedSeq)
}

/**
 * Judges a room's own texts, by its rules or, before it exists, by global ones. Only admins may give names that
 * resemble the service's.
 */
export function refuseNames(
  node: Node,
  view: View,
  account: string,
  fields: { [path in 'name' | 'category' | 'topic']?: string | null | undefined },
): void {
  const before = roomIn(view)
  for (const path of ['name', 'category', 'topic'] as const) {
    const text = fields[path]
    const deceptionIn = path === 'category' ? deceptionByLabel : deceptionByRoom
    const deception = text === undefined || text === null || text === before?.[path] ? null : deceptionIn(text)
    if (deception !== null && !standingOf(view, account).isAdmin)
      throw new AppError('VALIDATION_ERROR', {
        message: `This ${path} is not allowed. ${deception}`,
        details: { path },
      })
  }
  const texts = Object.values(fields).filter((value) => typeof value === 'string')
  refuseWords(node, view, account, texts)
}

/** Judges words by the blocked words of a room, or globally. */
export const refuseWords = (node: Node, view: View, account: string, texts: readonly string[]): void =>
  refuseWith(wordFault(texts, wordJudgingOf(node, view, account)), view.room === GLOBAL ? 0 : view.seq)

function refuseWith(fault: Refusal | null, judgedSeq: number): void {
  if (fault === null) return
  const verdict = verdictOf(fault, judgedSeq)
  throw new AppError(fault.code, { message: verdict.text ?? '', verdict })
}

/** The capabilities of a member, for the composer. */
export function capabilitiesOf(view: View, sender: Sender) {
  const { capabilities: may, next_send_at, max_length } = capabilitiesIn(senderFactsOf(view, sender))
  return { capabilities: may, next_send_at, max_length, rules_version: rulesIn(view).version }
}

export const acceptedVerdict = (seq: number): Verdict => ({
  ok: true,
  step: null,
  code: null,
  status: 200,
  text: null,
  rule: null,
  until: null,
  judged_seq: seq,
})
