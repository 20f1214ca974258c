import type { Capabilities, Sendable, Verdict } from '#shared/api/verdict'
import { errors } from '#shared/errors'
import { type MessageDraft, type Part, partsOf, plainly, written } from './content.ts'
import { isMedia, type Marker, readMarker, wordsOfPlace } from './markers.ts'
import { type Said, saidIn } from './said.ts'
import {
  admission,
  blockedWord,
  contentType,
  isSlowed,
  type Judging,
  length,
  links,
  type Refusal,
  readOnly,
  type SenderFacts,
  slowMode,
  slowUntil,
  undeclared,
  unsealed,
} from './steps.ts'
import { type Hit, hits } from './words.ts'

export type { MessageDraft } from './content.ts'
export type { Judging, Refusal, SenderFacts } from './steps.ts'

export interface Ruling {
  verdict: Verdict
  /** Whole seconds. */
  retryAfter: number | null
  flagged: readonly { id: string; scope: 'global' | 'room' }[]
  /** Milliseconds on the store's clock of the next message in slow mode; null if it does not apply. */
  nextSendAt: number | null
}

/** Judges one message. It is pure: equal messages on equal facts have equal rulings, at every door and node. */
export function judgeMessage(message: MessageDraft, facts: SenderFacts): Ruling {
  const barred = admission(facts) ?? readOnly(facts)
  if (barred !== null) return refused(barred, facts)
  if (facts.sealed) return ruled(unsealed(message, facts) ?? undeclared(message, facts) ?? slowMode(facts), [], facts)

  const marker = readMarker(message.type, message.text)
  const misplaced = contentType(message, marker, facts) ?? undeclared(message, facts)
  if (misplaced !== null) return refused(misplaced, facts)

  const parts = shownOf(message, marker)
  const read = readAll(parts, facts)
  if (read === null) return refused(tooComplex, facts)
  const { said, found } = read
  const refusal = blockedWord(found) ?? links(said, facts) ?? length(parts, facts) ?? slowMode(facts)
  return ruled(refusal, found, facts)
}

/** The displayed parts of a message: a media URL is not displayed, and a location's names are. */
function shownOf(message: MessageDraft, marker: Marker | null): readonly Part[] {
  const parts = partsOf(message)
  if (marker === null) return parts
  if (isMedia(marker)) return parts.slice(1)
  const place = wordsOfPlace(marker)
  return place === '' ? parts : [...parts, labelled(place)]
}

/** The refusal of a text that is sent or quoted with a message in this room; null if allowed. */
export function remarkFault(text: string, facts: SenderFacts): Refusal | null {
  if (facts.sealed === 'epoch') return null
  const read = readAll([labelled(text)], facts)
  return read === null ? tooComplex : (blockedWord(read.found) ?? links(read.said, facts))
}

/** The refusal for blocked words in these texts, or for texts too complex to check. */
export function wordFault(texts: readonly string[], judging: Judging): Refusal | null {
  const read = readAll(texts.map(labelled), judging)
  return read === null ? tooComplex : blockedWord(read.found)
}

const tooComplex: Refusal = { step: 'blocked_words', code: 'TEXT_TOO_COMPLEX' }

const labelled = (text: string): Part => ({ reading: 'label', text })

/** The displayed parts and the blocked words in them; null if the budget is spent. */
function readAll(parts: readonly Part[], judging: Judging): { said: readonly Said[]; found: readonly Hit[] } | null {
  const budget = { left: judging.steps }
  const said = saidIn(parts, budget)
  const texts = parts.map(({ reading, text }) => (reading === 'address' ? plainly(text) : text))
  const written = said && hits(judging.words, texts, budget)
  if (said === null || written === null) return null
  const isDrawnOtherwise = said.some(({ text, words }) => words !== text)
  const drawn = isDrawnOtherwise ? hits(judging.words, said.map(wordsOf), budget) : []
  if (drawn === null) return null
  const found = new Map([...written, ...drawn].map((hit) => [hit.id, hit]))
  return { said, found: [...found.values()] }
}

const wordsOf = ({ words }: Said): string => words

/** The message by which a capability is tested: of its type, without other content. */
export function probeOf(sendable: Sendable): MessageDraft {
  return sendable === 'links' ? written('text', 'https://example.com') : written(sendable, '')
}

/** The member's capabilities: for each kind, the verdict on its probe. Slow mode affects `next_send_at` only. */
export function capabilities(facts: SenderFacts): Capabilities {
  // Clients judge shared-key messages themselves, so they get the rules as they are.
  const rested = { ...facts, lastMessageAt: null, sealed: facts.sealed === 'epoch' ? facts.sealed : null }
  const may = (sendable: Sendable) => {
    if (sendable === 'poll' && facts.sealed === 'shared-key') return { ok: false, code: 'VALIDATION_ERROR' as const }
    const { ok, code } = judgeMessage(probeOf(sendable), rested).verdict
    return { ok, code }
  }
  const nextSendAt = nextSendOf(facts)
  return {
    capabilities: {
      text: may('text'),
      photo: may('photo'),
      gif: may('gif'),
      pixel_art: may('pixel_art'),
      poll: may('poll'),
      location: may('location'),
      voice: may('voice'),
      encrypted_image: may('encrypted_image'),
      voice_memo: may('voice_memo'),
      links: may('links'),
    },
    next_send_at: nextSendAt === null ? null : new Date(nextSendAt).toISOString(),
    max_length: facts.sealed === 'epoch' ? 0 : facts.rules.max_message_length,
  }
}

const ruled = (refusal: Refusal | null, found: readonly Hit[], facts: SenderFacts): Ruling =>
  refusal === null ? accepted(found, facts) : refused(refusal, facts)

function accepted(found: readonly Hit[], facts: SenderFacts): Ruling {
  const { rules, now, ahead, judgedSeq } = facts
  return {
    verdict: {
      ok: true,
      step: null,
      code: null,
      status: 200,
      text: null,
      rule: null,
      until: null,
      judged_seq: judgedSeq,
    },
    retryAfter: null,
    flagged: found.map(({ id, scope }) => ({ id, scope })),
    nextSendAt: isSlowed(facts) ? now - ahead + rules.slow_mode_seconds * 1000 : null,
  }
}

function refused(refusal: Refusal, facts: SenderFacts): Ruling {
  return {
    verdict: verdictOf(refusal, facts.judgedSeq),
    retryAfter: refusal.retryAfter ?? null,
    flagged: [],
    nextSendAt: nextSendOf(facts),
  }
}

/** On a clock equal to the store's, by which clients count. */
function nextSendOf(facts: SenderFacts): number | null {
  const until = slowUntil(facts)
  return until === null ? null : until - facts.ahead
}

export function verdictOf(refusal: Refusal, judged_seq: number): Verdict {
  const { step, code, text, rule, until = null } = refusal
  const [status, message] = errors[code]
  return {
    ok: false,
    step,
    code,
    status,
    text: text ?? message,
    rule: rule ?? null,
    until: until === null ? null : new Date(until).toISOString(),
    judged_seq,
  }
}
