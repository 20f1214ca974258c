import type { DecidingRule, PermissionLevel, Rules, Step } from '#shared/api/moderation/verdict'
import type { ErrorCode } from '#shared/errors'
import { normalized } from '#shared/kit/looks'
import { drawnOf, marksIn, nestingOf } from '#shared/kit/markup'
import type { SealedBy } from '#shared/kit/room-kinds'
import { type Budget, spend } from './automaton.ts'
import { contentOfMime, contentsOf, type MessageDraft, type MessagePart } from './content.ts'
import {
  attachmentFault,
  type ContentKind,
  contentOfFile,
  contentOfType,
  foreignMediaText,
  type Marker,
  markerFault,
  ownBlob,
} from './markers.ts'
import { innerLength, sharedKeyBytes } from './sealed-text.ts'
import { firstHit, type WordHit, type WordList } from './words.ts'

/** A part of a message with its displayed text. */
export interface DisplayedPart extends MessagePart {
  /** The displayed text. */
  words: string
  /** The targets of its links. */
  targets: readonly string[]
}

/** The deepest nesting that is judged. */
const deepest = 250
// Measured: a sign takes at most 0.03 ms, a line of nested lists and quotes 0.06 ms for each pair. A microsecond is 160
// steps.
const stepsOfCharacter = 20
const stepsOfMark = 5_000
/** So few take no longer than the rest of the work on a text. */
const freeMarks = 20
const stepsOfPair = 10_000

/** The parts as displayed; null if one is nested too deep or too costly to read. */
export function displayedPartsOf(parts: readonly MessagePart[], budget: Budget): readonly DisplayedPart[] | null {
  const displayed: DisplayedPart[] = []
  for (const part of parts) {
    const { reading, text } = part
    if (reading !== 'address' && (nestingOf(text) > deepest || !spend(budget, stepsOf(text)))) return null
    const drawn = reading === 'address' ? null : drawnOf(text)
    displayed.push({ ...part, ...(drawn ?? { words: text, targets: [] }) })
  }
  return displayed
}

function stepsOf(text: string): number {
  const marks = marksIn(text) ?? 0
  if (marks === 0) return 0
  const lines = text.match(containers)?.map((opening) => opening.replace(/[^>)*+.-]/g, '').length) ?? []
  const pairs = lines.reduce((sum, count) => sum + count * (count - 1), 0)
  return text.length * stepsOfCharacter + Math.max(0, marks - freeMarks) * stepsOfMark + pairs * stepsOfPair
}

/** The markers of quotes and lists at the start of a line. */
const containers = /^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*)+/gm

const commonTopLevels = [
  'com net org io co me app dev xyz info biz gg tv cc ly link site online store shop club live top pro tech ai',
  'edu gov uk us ca de fr es eu ru cn jp br au nl ch se pl',
]
const topLevels = commonTopLevels.join(' ').replaceAll(' ', '|')

// Each alternative is a fixed text with a bounded context: none can backtrack.
const address = new RegExp(
  [
    '[\\p{L}\\p{N}]://\\S',
    // URLs that browsers repair.
    '(?<![\\p{L}\\p{N}])https?:[\\\\/]{0,3}[\\p{L}\\p{N}-]{1,63}\\.[\\p{L}\\p{N}]',
    '(?<![\\p{L}\\p{N}])https?:[\\\\/]{2,3}[\\p{L}\\p{N}]',
    '(?<![\\p{L}\\p{N}])www\\.[\\p{L}\\p{N}]',
    `[\\p{L}\\p{N}]\\.(?:${topLevels})(?![\\p{L}\\p{N}_-])`,
    '[\\p{L}\\p{N}]\\.xn--[a-z0-9]',
    '(?<![\\p{L}\\p{N}])xn--[a-z0-9-]{1,59}\\.[a-z]',
  ].join('|'),
  'iu',
)
const ascii = /^[\0-\x7f]*$/
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const dots = /[。．｡․]/g
const bracketedDot = /[[({]\s?(?:\.|dot)\s?[\])}]/gi

/** Has the text a link? Links are URLs, also repairable ones, `www.` prefixes and domains under common top levels. */
export function hasLink(text: string): boolean {
  return address.test(plainDots(text))
}

const here = 'https://here.invalid'

/** Does the target of a Markdown link leave this site, as a browser reads it? */
function isOutsideLink(target: string): boolean {
  if (hasLink(target)) return true
  const url = URL.canParse(target) ? new URL(target) : URL.canParse(target, here) ? new URL(target, here) : null
  return url !== null && url.origin !== here && /^(?:https?|ftp|wss?):$/.test(url.protocol)
}

function plainDots(text: string): string {
  const visible = ascii.test(text) ? text : normalized(text.replace(dots, '.'), 'NFKC').replace(invisible, '')
  return /[[({]/.test(visible) ? visible.replace(bracketedDot, '.') : visible
}

interface JudgedSteps {
  /** All steps of judging one text. */
  all: number
  /** Those of reading it, which follow from its length. */
  reading: number
  isTooComplex: boolean
}

/** The inputs of judging words. */
export interface WordJudging {
  /** The global list first, then the room's. */
  words: readonly WordList[]
  /** The budget of one text; see `automaton.ts`. */
  steps: number
  /** Counts the steps of each judged text; it may throw. */
  count?: ((judged: JudgedSteps) => void) | undefined
}

/** All facts of a verdict. An expired ban or mute counts as none. */
export interface SenderFacts extends WordJudging {
  /** The sealing of the room's messages, which no rule can read; null if they are in clear. */
  sealed: SealedBy | null
  /** May only moderators write here, by the kind of room, whatever its rules say? */
  forModerators: boolean
  /** Milliseconds on the log's clock. */
  now: number
  /** The milliseconds by which that clock is ahead of the store's after a step back; else 0. */
  ahead: number
  judgedSeq: number
  suspended: boolean
  ban: { until: number | null } | null
  blocked: boolean
  member: boolean
  archived: boolean
  mute: { until: number | null } | null
  /** Is the sender a moderator here, by any role? */
  moderator: boolean
  rules: Rules
  lastMessageAt: number | null
  sender: string
  storage: {
    publicUrl: string
    /** URLs of the sender's folder in the message whose files do not exist. */
    missing: ReadonlySet<string>
  }
}

export interface Refusal {
  step: Step | null
  code: ErrorCode
  text?: string
  rule?: DecidingRule
  until?: number | null
  retryAfter?: number
}

export function refuseSender(facts: SenderFacts): Refusal | null {
  const { suspended, ban, mute, now } = facts
  if (suspended) return { step: 'suspension', code: 'SUSPENDED' }
  if (ban !== null && isRunning(ban, now)) return { step: 'ban', code: 'BANNED', until: ban.until }
  if (facts.blocked) return { step: 'ban', code: 'BLOCKED' }
  if (!facts.member) return { step: 'membership', code: 'NOT_A_MEMBER' }
  if (facts.archived) return { step: 'archived', code: 'ROOM_ARCHIVED' }
  if (mute !== null && isRunning(mute, now)) return { step: 'mute', code: 'MUTED', until: mute.until }
  return null
}

function isRunning(term: { until: number | null }, now: number): boolean {
  return term.until === null || term.until > now
}

export function refuseReadOnly({ sealed, forModerators, rules, moderator }: SenderFacts): Refusal | null {
  const isHeld = forModerators || (rules.read_only && sealed !== 'epoch')
  if (!isHeld || moderator) return null
  return { step: 'read_only', code: 'READ_ONLY', rule: setting('read_only') }
}

type PermissionName = { [Name in keyof Rules]: Rules[Name] extends PermissionLevel ? Name : never }[keyof Rules]

const permissionOf: Readonly<Record<ContentKind, readonly [name: PermissionName, refusal: string]>> = {
  photo: ['photos_allowed', 'Photos are not allowed'],
  gif: ['gifs_allowed', 'GIFs are not allowed'],
  pixel_art: ['pixel_art_allowed', 'Pixel art is not allowed'],
  poll: ['polls_allowed', 'Polls are not allowed'],
  location: ['location_sharing_allowed', 'Location sharing is not allowed'],
  voice: ['voice_allowed', 'Voice messages are not allowed'],
  file: ['files_allowed', 'Files are not allowed'],
}

/** A sealed message is sealed completely: attachments beside the ciphertext would be readable in the store. */
export function refuseUnsealed(message: MessageDraft, facts: SenderFacts): Refusal | null {
  if (facts.sealed === 'shared-key') return unsealedByKey(message) ?? sealedLength(message.text, facts)
  if (message.attachments.length === 0) return null
  const text = 'Direct messages carry attachments inside the ciphertext'
  return { step: 'content_type', code: 'INVALID_PARAMETER', text }
}

function unsealedByKey({ text, type, replyTo, mentions, attachments, poll }: MessageDraft): Refusal | null {
  const invalid = (why: string): Refusal => ({ step: 'content_type', code: 'VALIDATION_ERROR', text: why })
  if (poll !== null) return invalid('room: a poll cannot be sealed, so rooms with a shared key have none')
  if (sharedKeyBytes(text) === null)
    return invalid('text: messages of rooms with a shared key carry ciphertext, base64 of version 2')
  if (type === 'text' && replyTo === null && mentions.length === 0 && attachments.length === 0) return null
  return invalid('text: the type, the reply, names and attachments of a message of version 2 are inside of it')
}

const bytesOfCharacter = 4
/** The bytes of sealed data besides the text. */
const otherBytes = 1_024

/** Sealed text cannot be counted. It is too long if no permitted text becomes that long. */
function sealedLength(text: string, { rules }: SenderFacts): Refusal | null {
  const most = rules.max_message_length
  const bytes = sharedKeyBytes(text)
  if (most === 0 || bytes === null || innerLength(bytes) <= most * bytesOfCharacter + otherBytes) return null
  return tooLong(most)
}

/** Declared files of a message must exist and be its sender's own. */
export function refuseForeignBlobs({ blobs = [] }: MessageDraft, { sender, storage }: SenderFacts): Refusal | null {
  if (!blobs.some((path) => storage.missing.has(path) || ownBlob(path, sender) === null)) return null
  return { step: 'content_type', code: 'INVALID_PARAMETER', text: foreignMediaText }
}

/** Checks the permissions of the declared type and the detected content, then that media are the sender's own. */
export function refuseContent(message: MessageDraft, marker: Marker | null, facts: SenderFacts): Refusal | null {
  const storage = { publicUrl: facts.storage.publicUrl, sender: facts.sender }
  const attached = message.attachments.map((attachment) => contentsOf(attachment, storage))
  const seen = marker?.rest && contentOfFile(marker.rest, storage)
  const sealed = marker?.tag === 'ENC_IMAGE' ? contentOfMime(marker.parameter) : null
  for (const content of [contentOfType[message.type], marker?.content, sealed, seen, ...attached.flat()]) {
    if (!content) continue
    const [name, text] = permissionOf[content]
    if (mayUse(name, facts)) continue
    return { step: 'content_type', code: 'CONTENT_NOT_ALLOWED', text, rule: setting(name) }
  }
  const faults = message.attachments.map((one, at) => attachmentFault(one, attached[at] ?? [], storage))
  const { missing } = facts.storage
  const isMissing = [marker?.rest, ...message.attachments.map(({ url }) => url)].some((url) => url && missing.has(url))
  const fault =
    (marker && markerFault(marker, storage)) ??
    faults.find((one) => one !== null) ??
    (isMissing ? foreignMediaText : null)
  return fault === null ? null : { step: 'content_type', code: 'INVALID_PARAMETER', text: fault }
}

function mayUse(name: PermissionName, { rules, moderator }: SenderFacts): boolean {
  return rules[name] === 'everyone' || (rules[name] === 'mods_only' && moderator)
}

export function refuseBlockedWord(found: readonly WordHit[]): Refusal | null {
  const hit = firstHit(found)
  if (hit === null) return null
  if (hit.action === 'mute') return { step: null, code: 'MESSAGE_REJECTED' }
  const rule: DecidingRule = { id: hit.id, kind: hit.is_regex ? 'pattern' : 'word', scope: hit.scope }
  return { step: 'blocked_words', code: 'BLOCKED_WORD', rule }
}

export function refuseLinks(parts: readonly DisplayedPart[], facts: SenderFacts): Refusal | null {
  if (mayUse('links_allowed', facts) || !parts.some(leadsAway)) return null
  return { step: 'links', code: 'LINKS_NOT_ALLOWED', rule: setting('links_allowed') }
}

/** Addresses lead to uploads of the sender, as `refuseContent` comes first. */
const leadsAway = ({ reading, text, words, targets }: DisplayedPart): boolean =>
  reading !== 'address' && (hasLink(text) || (words !== text && hasLink(words)) || targets.some(isOutsideLink))

/** All displayed text counts, so poll options and file names cannot evade the limit. */
export function refuseLength(parts: readonly MessagePart[], { rules }: SenderFacts): Refusal | null {
  const most = rules.max_message_length
  const displayed = parts.filter(({ reading }) => reading === 'prose').map(({ text }) => text)
  if (most === 0 || lengthOf(displayed, (text) => text.length) <= most) return null
  if (lengthOf(displayed, (text) => [...text].length) <= most) return null
  return tooLong(most)
}

const tooLong = (most: number): Refusal => ({
  step: 'length',
  code: 'MESSAGE_TOO_LONG',
  text: `Message exceeds ${most} characters`,
  rule: setting('max_message_length'),
})

const lengthOf = (texts: readonly string[], measure: (text: string) => number): number =>
  texts.reduce((sum, text) => sum + measure(text), 0)

export function refuseSlowMode(facts: SenderFacts): Refusal | null {
  const until = slowModeEnd(facts)
  if (until === null) return null
  const retryAfter = Math.ceil((until - facts.now) / 1000)
  return {
    step: 'slow_mode',
    code: 'SLOW_MODE',
    text: `Slow mode: wait ${retryAfter} seconds`,
    rule: setting('slow_mode_seconds'),
    retryAfter,
  }
}

/** The time of this sender's next message in slow mode; null if it may be sent now. */
export function slowModeEnd({ sealed, rules, moderator, lastMessageAt, now }: SenderFacts): number | null {
  if (lastMessageAt === null || !isSlowed({ sealed, rules, moderator })) return null
  const until = lastMessageAt + rules.slow_mode_seconds * 1000
  return until > now ? until : null
}

/** Does slow mode apply to this sender? */
export function isSlowed({ sealed, rules, moderator }: Pick<SenderFacts, 'sealed' | 'rules' | 'moderator'>): boolean {
  return sealed !== 'epoch' && !moderator && rules.slow_mode_seconds > 0
}

function setting(name: keyof Rules): DecidingRule {
  return { id: name, kind: 'setting', scope: 'room' }
}
