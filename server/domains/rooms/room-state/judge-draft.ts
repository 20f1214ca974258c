import {
  capabilitiesIn,
  judgeMessage,
  type MessageDraft,
  type Refusal,
  type Ruling,
  remarkFault,
  type SenderFacts,
  verdictOf,
  wordFault,
} from '#server/domains/moderation/verdict/verdict'
import { deceptionByRoom } from '#server/domains/people/accounts/names'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type View } from '#server/log/types'
import type { Verdict } from '#shared/api/moderation/verdict'
import { AppError } from '#shared/errors'
import { isUnlisted } from './access.ts'
import { wordJudgingOf } from './blocked-words.ts'
import { muteIn, type RoomFact, roomIn, rulesIn } from './facts.ts'
import { type Sender, senderFactsOf } from './sender-facts.ts'
import { type Standing, standingOf } from './standing.ts'

/** The refusal of a ruling, with its explanation. */
export function refusalOf({ verdict, retryAfter }: Ruling): AppError {
  const wait = retryAfter === null ? {} : { retryAfter }
  return new AppError(verdict.code ?? 'MESSAGE_REJECTED', { message: verdict.text ?? '', verdict, ...wait })
}

/** The ruling on a draft, and its facts. */
export interface JudgedDraft {
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

/** Judges a change of a sent message that `touchable` admitted; slow mode does not apply again. */
export function refuseChange(view: View, draft: MessageDraft, sender: Sender): Ruling {
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
    const deception = text === undefined || text === null || text === before?.[path] ? null : deceptionByRoom(text)
    if (deception !== null && !standingOf(view, account).isAdmin)
      throw new AppError('VALIDATION_ERROR', {
        message: `This ${path} is not allowed. ${deception}`,
        details: { path },
      })
  }
  const texts = Object.values(fields).filter((value) => typeof value === 'string')
  refuseWords(node, view, texts)
}

/** Judges words by the blocked words of a room, or globally. */
export const refuseWords = (node: Node, view: View, texts: readonly string[]): void =>
  refuseWith(wordFault(texts, wordJudgingOf(node, view)), view.room === GLOBAL ? 0 : view.seq)

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
