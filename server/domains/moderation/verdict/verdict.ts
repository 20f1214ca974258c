import type { Capabilities, Sendable, Verdict } from '#shared/api/moderation/verdict'
import { errors } from '#shared/errors'
import type { Budget } from './automaton.ts'
import { decodedUrl, type MessageDraft, type MessagePart, messagePartsOf, textDraft } from './content.ts'
import { exampleFile, isMediaMarker, type Marker, ownFile, readMarker, textsOfLocation } from './markers.ts'
import {
  type DisplayedPart,
  displayedPartsOf,
  isSlowed,
  type Refusal,
  refuseBlockedWord,
  refuseContent,
  refuseForeignBlobs,
  refuseLength,
  refuseLinks,
  refuseReadOnly,
  refuseSender,
  refuseSlowMode,
  refuseUnsealed,
  type SenderFacts,
  slowModeEnd,
  type WordJudging,
} from './steps.ts'
import { findWords, type WordHit } from './words.ts'

export type { MessageDraft } from './content.ts'
export type { Refusal, SenderFacts, WordJudging } from './steps.ts'

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
  const barred = refuseSender(facts) ?? refuseReadOnly(facts)
  if (barred !== null) return refusalRuling(barred, facts)
  if (facts.sealed)
    return rulingOf(
      refuseUnsealed(message, facts) ?? refuseForeignBlobs(message, facts) ?? refuseSlowMode(facts),
      [],
      facts,
    )

  const marker = readMarker(message.type, message.text)
  const misplaced = refuseContent(message, marker, facts) ?? refuseForeignBlobs(message, facts)
  if (misplaced !== null) return refusalRuling(misplaced, facts)

  const parts = displayedPartsIn(message, marker, facts)
  const read = readAll(parts, facts)
  if (read === null) return refusalRuling(tooComplex, facts)
  const { displayed, found } = read
  const refusal =
    refuseBlockedWord(found) ?? refuseLinks(displayed, facts) ?? refuseLength(parts, facts) ?? refuseSlowMode(facts)
  return rulingOf(refusal, found, facts)
}

/**
 * The displayed parts of a message. The URL of media or of an own file is not displayed; a location's names are.
 * A text that only names its file, for clients without attachments, is displayed once.
 */
function displayedPartsIn(message: MessageDraft, marker: Marker | null, facts: SenderFacts): readonly MessagePart[] {
  const storage = { publicUrl: facts.storage.publicUrl, sender: facts.sender }
  const isFile = ({ reading, text }: MessagePart) => reading === 'address' && ownFile(text, storage)?.stored === 'file'
  const all = messagePartsOf(message)
  const repeated = message.attachments.some(({ name }) => name === message.text)
    ? all.findLastIndex(({ reading, text }) => reading === 'prose' && text === message.text)
    : -1
  const parts = all.filter((part, at) => at !== repeated && !isFile(part))
  if (marker === null) return parts
  if (isMediaMarker(marker)) return parts.slice(1)
  const place = textsOfLocation(marker)
  return place === '' ? parts : [...parts, labelled(place)]
}

/** The refusal of a text that is sent or quoted with a message in this room; null if allowed. */
export function remarkFault(text: string, facts: SenderFacts): Refusal | null {
  if (facts.sealed === 'epoch') return null
  const read = readAll([labelled(text)], facts)
  return read === null ? tooComplex : (refuseBlockedWord(read.found) ?? refuseLinks(read.displayed, facts))
}

/** The refusal for blocked words in these texts, or for texts too complex to check. */
export function wordFault(texts: readonly string[], judging: WordJudging): Refusal | null {
  const read = readAll(texts.map(labelled), judging)
  return read === null ? tooComplex : refuseBlockedWord(read.found)
}

const tooComplex: Refusal = { step: 'blocked_words', code: 'TEXT_TOO_COMPLEX' }

const labelled = (text: string): MessagePart => ({ reading: 'label', text })

interface ReadParts {
  displayed: readonly DisplayedPart[]
  found: readonly WordHit[]
}

/** The displayed parts and the blocked words in them; null if the budget is spent. */
function readAll(parts: readonly MessagePart[], judging: WordJudging): ReadParts | null {
  const budget: Budget = { left: judging.steps }
  const read = readWithin(budget, parts, judging)
  judging.count?.({
    all: judging.steps - budget.left,
    reading: budget.reading ?? 0,
    isTooComplex: read === null,
  })
  return read
}

function readWithin(budget: Budget, parts: readonly MessagePart[], judging: WordJudging): ReadParts | null {
  const displayed = displayedPartsOf(parts, budget)
  const texts = parts.map(({ reading, text }) => (reading === 'address' ? decodedUrl(text) : text))
  const written = displayed && findWords(judging.words, texts, budget)
  if (displayed === null || written === null) return null
  const isDrawnOtherwise = displayed.some(({ text, words }) => words !== text)
  const drawn = isDrawnOtherwise ? findWords(judging.words, displayed.map(wordsOf), budget) : []
  if (drawn === null) return null
  const found = new Map([...written, ...drawn].map((hit) => [hit.id, hit]))
  return { displayed, found: [...found.values()] }
}

const wordsOf = ({ words }: DisplayedPart): string => words

/** The message by which a capability is tested: of its type, without other content. */
export function probeOf(sendable: Sendable, { sealed, sender, storage }: SenderFacts): MessageDraft {
  if (sendable === 'links') return textDraft('text', 'https://example.com')
  if (sendable !== 'file') return textDraft(sendable, '')
  // A sealed message has its files inside the ciphertext.
  const url = exampleFile({ publicUrl: storage.publicUrl, sender })
  return { ...textDraft('text', ''), attachments: sealed === null ? [{ url }] : [] }
}

/** The member's capabilities: for each kind, the verdict on its probe. Slow mode affects `next_send_at` only. */
export function capabilitiesIn(facts: SenderFacts): Capabilities {
  // Clients judge shared-key messages themselves, so they get the rules as they are. Probes are no texts of the caller.
  const sealed = facts.sealed === 'epoch' ? facts.sealed : null
  const rested = { ...facts, lastMessageAt: null, sealed, count: undefined }
  const may = (sendable: Sendable) => {
    if (sendable === 'poll' && facts.sealed === 'shared-key') return { ok: false, code: 'VALIDATION_ERROR' as const }
    const { ok, code } = judgeMessage(probeOf(sendable, rested), rested).verdict
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
      file: may('file'),
      links: may('links'),
    },
    next_send_at: nextSendAt === null ? null : new Date(nextSendAt).toISOString(),
    max_length: facts.sealed === 'epoch' ? 0 : facts.rules.max_message_length,
  }
}

const rulingOf = (refusal: Refusal | null, found: readonly WordHit[], facts: SenderFacts): Ruling =>
  refusal === null ? acceptedRuling(found, facts) : refusalRuling(refusal, facts)

function acceptedRuling(found: readonly WordHit[], facts: SenderFacts): Ruling {
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

function refusalRuling(refusal: Refusal, facts: SenderFacts): Ruling {
  return {
    verdict: verdictOf(refusal, facts.judgedSeq),
    retryAfter: refusal.retryAfter ?? null,
    flagged: [],
    nextSendAt: nextSendOf(facts),
  }
}

/** On a clock equal to the store's, by which clients count. */
function nextSendOf(facts: SenderFacts): number | null {
  const until = slowModeEnd(facts)
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
