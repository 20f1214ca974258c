import type { Capabilities, Sendable, Verdict } from '#shared/api/verdict'
import { errors } from '#shared/errors'
import { isMedia, readMarker } from './markers.ts'
import {
  admission,
  blockedWord,
  contentType,
  isSlowed,
  length,
  links,
  type MessageDraft,
  type Refusal,
  type RoomState,
  readOnly,
  slowMode,
  slowUntil,
} from './steps.ts'
import { type Hit, hits } from './words.ts'

export type { MessageDraft, RoomState } from './steps.ts'

export interface Ruling {
  verdict: Verdict
  /** Whole seconds. */
  retryAfter: number | null
  flagged: readonly { id: string; scope: 'global' | 'room' }[]
  /** Milliseconds: from when slow mode lets the next message pass; null where it does not hold one back. */
  nextSendAt: number | null
}

/** Judges one message. Pure: the same message on the same state has the same ruling, on every door and every node. */
export function judgeMessage(message: MessageDraft, state: RoomState): Ruling {
  const barred = admission(state)
  if (barred !== null) return refused(barred, state)
  if (state.kind === 'dm') return accepted([], state)

  const marker = readMarker(message.type, message.text)
  const misplaced = readOnly(state) ?? contentType(message, marker, state)
  if (misplaced !== null) return refused(misplaced, state)

  const isOwnMedia = marker !== null && isMedia(marker)
  const found = isOwnMedia ? [] : hits(state.words, message.text)
  const written = blockedWord(found) ?? (isOwnMedia ? null : (links(message, state) ?? length(message, state)))
  const refusal = written ?? slowMode(state)
  return refusal === null ? accepted(found, state) : refused(refusal, state)
}

/** The message a capability stands for: of its type, and with nothing else in it to object to. */
export function probeOf(sendable: Sendable): MessageDraft {
  return sendable === 'links' ? { type: 'text', text: 'https://example.com' } : { type: sendable, text: '' }
}

/** What this member may send now: for each kind, the verdict on its probe. */
export function capabilities(state: RoomState): Capabilities {
  const may = (sendable: Sendable) => {
    const { ok, code } = judgeMessage(probeOf(sendable), state).verdict
    return { ok, code }
  }
  const nextSendAt = slowUntil(state)
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
    max_length: state.kind === 'dm' ? 0 : state.rules.max_message_length,
  }
}

function accepted(found: readonly Hit[], state: RoomState): Ruling {
  const { rules, now, judgedSeq } = state
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
    nextSendAt: isSlowed(state) ? now + rules.slow_mode_seconds * 1000 : null,
  }
}

function refused(refusal: Refusal, state: RoomState): Ruling {
  const { step, code, rule = null, until = null, retryAfter = null } = refusal
  const [status, message] = errors[code]
  return {
    verdict: {
      ok: false,
      step,
      code,
      status,
      text: refusal.text ?? message,
      rule,
      until: until === null ? null : new Date(until).toISOString(),
      judged_seq: state.judgedSeq,
    },
    retryAfter,
    flagged: [],
    nextSendAt: slowUntil(state),
  }
}
