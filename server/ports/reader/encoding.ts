import { analyse } from 'chardet'
import { AppError } from '#shared/errors'

/** Within the first bytes a document says how it is encoded; browsers look no further than 1,024. */
const headBytes = 4_096
const sampleBytes = 64 * 1024
/** What is found without a word of the document, by its bytes, is right so often in a hundred. */
const leastConfidence = 20
/** Most are in Western languages, so that of guesses this near the Western one is right. */
const western = { name: /^(ISO-8859-1|windows-1252)$/, lead: 8 }
const mark = '\ufffd'

const unknown = new AppError('UNSUPPORTED_MEDIA_TYPE', {
  message: 'The page is in an encoding that it does not name, and that could not be found',
})
const noText = new AppError('UNSUPPORTED_MEDIA_TYPE', { message: 'The page is no text' })

/**
 * Decodes a document by its byte order mark, its server's header (`type`), or its own declaration. Otherwise it is UTF-8, or
 * what its bytes look like. Throws UNSUPPORTED_MEDIA_TYPE if it is no text, or no encoding fits.
 */
export function decodedText(bytes: Uint8Array, type: string): string {
  const marked = markedAs(bytes)
  const named = marked === null ? namedBy(bytes, type) : [marked]
  const candidates = [...named, 'utf-8']
  const text =
    first(candidates, (label) => strictly(bytes, label)) ??
    first(candidates, (label) => nearly(bytes, label)) ??
    first(marked === null ? found(bytes) : [], (label) => likely(bytes, label))
  if (text === null) throw bytes.subarray(0, headBytes).includes(0) ? noText : unknown
  const zeroAt = text.indexOf('\0')
  if (zeroAt >= 0 && zeroAt < headBytes) throw noText
  return text
}

function first<Found>(labels: readonly string[], read: (label: string) => Found | null): Found | null {
  for (const label of labels) {
    const text = read(label)
    if (text !== null) return text
  }
  return null
}

function markedAs(bytes: Uint8Array): string | null {
  const begin = Buffer.from(bytes.subarray(0, 3)).toString('hex')
  if (begin === 'efbbbf') return 'utf-8'
  if (begin.startsWith('fffe')) return 'utf-16le'
  return begin.startsWith('feff') ? 'utf-16be' : withZeros(bytes)
}

/** In UTF-16 Latin letters, spaces and digits have a byte of zero each, before or behind the other. */
function withZeros(bytes: Uint8Array): string | null {
  const zeros = [0, 0]
  for (const [at, byte] of bytes.subarray(0, headBytes).entries())
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [before = 0, behind = 0] = zeros
  const many = Math.min(bytes.length, headBytes) / 6
  if (behind > many && before === 0) return 'utf-16le'
  return before > many && behind === 0 ? 'utf-16be' : null
}

/** What the server says, and then the document, which in ASCII cannot say that it is in UTF-16. */
function namedBy(bytes: Uint8Array, type: string): string[] {
  const [, said] = /charset\s*=\s*["']?([\w.:-]+)/i.exec(type) ?? []
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('latin1')
  const isMarkup = /html|xml/i.test(type) || /^\s*</.test(head)
  const own = isMarkup
    ? /<(?:meta\s[^>]*?charset|\?xml\s[^>]*?encoding)\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1]
    : undefined
  const label = own !== undefined && /^utf-?16/i.test(own) ? 'utf-8' : own
  return [said, label].filter((one) => one !== undefined)
}

/** Null where a byte stands for nothing, or nobody knows the encoding. */
function strictly(bytes: Uint8Array, label: string): string | null {
  try {
    const decoder = new TextDecoder(label, { fatal: true })
    const text = decoder.decode(bytes)
    return decoder.encoding === 'windows-1252' ? text.replace(/[\x80-\x9f]/g, westernSign) : text
  } catch {
    return null
  }
}

/** Signs of windows-1252 that newer versions of Node take for controls. */
const westernSigns = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'
const westernSign = (control: string): string => westernSigns.charAt(control.charCodeAt(0) - 0x80)

/** As named, where of what is no ASCII nine of ten characters stand for something: without the others. */
function nearly(bytes: Uint8Array, label: string): string | null {
  try {
    const text = new TextDecoder(label).decode(bytes)
    const whole = text.replaceAll(mark, '')
    const sound = whole.replace(/[\0-\x7f]+/g, '').length
    return (text.length - whole.length) * 10 <= sound ? whole : null
  } catch {
    return null
  }
}

/** By what surrounds the first byte that is no ASCII, the likeliest first. */
function found(bytes: Uint8Array): string[] {
  const at = Math.max(0, bytes.findIndex((byte) => byte > 0x7f) - 1_000)
  return analyse(bytes.subarray(at, at + sampleBytes))
    .filter(({ confidence }) => confidence >= leastConfidence)
    .map(({ name, confidence }) => ({ name, likely: confidence + (western.name.test(name) ? western.lead : 0) }))
    .sort((one, other) => other.likely - one.likely)
    .map(({ name }) => name)
}

/** As `strictly`, and null where a byte stands for a control character, which no document holds. */
const likely = (bytes: Uint8Array, label: string): string | null => {
  const text = strictly(bytes, label)
  return text === null || /[\x80-\x9f]/.test(text) ? null : text
}
