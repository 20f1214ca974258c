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
    first(marked === null ? foundIn(sampleOf(bytes)) : [], (label) => likely(bytes, label))
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

/** What surrounds the first byte that is no ASCII. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const at = Math.max(0, bytes.findIndex((byte) => byte > 0x7f) - 1_000)
  return bytes.subarray(at, at + sampleBytes)
}

/** The likeliest first. A detector knows texts of some length, which a few words of Eastern languages are not. */
function foundIn(sample: Uint8Array): string[] {
  const detected = analyse(sample)
    .filter(({ confidence }) => confidence >= leastConfidence)
    .map(({ name, confidence }) => ({ name, likely: confidence + (western.name.test(name) ? western.lead : 0) }))
    .sort((one, other) => other.likely - one.likely)
    .map(({ name }) => name)
  return [...easternIn(sample), ...detected]
}

type Range = readonly [from: number, to: number]

/** An encoding of two bytes a letter, which are a number here. */
interface Eastern {
  label: string
  /** The letters that most texts are written with, with their least second byte. */
  usual: Range
  second: number
  kana?: Range
  /** Stops, and letters as wide as the others: every language has them. */
  signs: Range
}

/** Of two that are as likely, the first is right. */
const easterns: readonly Eastern[] = [
  { label: 'shift_jis', kana: [0x829f, 0x8396], usual: [0x889f, 0x9872], second: 0x40, signs: [0x8140, 0x829a] },
  { label: 'euc-kr', usual: [0xb0a1, 0xc8fe], second: 0xa1, signs: [0xa1a1, 0xa3fe] },
  { label: 'gb18030', usual: [0xb0a1, 0xd7f9], second: 0xa1, signs: [0xa1a1, 0xa3fe] },
  { label: 'big5', usual: [0xa440, 0xc67e], second: 0x40, signs: [0xa140, 0xa3bf] },
  { label: 'euc-jp', kana: [0xa4a1, 0xa5f6], usual: [0xb0a1, 0xcfd3], second: 0xa1, signs: [0xa1a1, 0xa3fa] },
]
const fewestLetters = 3
const leastShare = 0.85

/** Eastern encodings in which nearly all letters are usual ones, the likeliest first. */
function easternIn(sample: Uint8Array): string[] {
  return easterns
    .map((one) => ({ label: one.label, likely: likelihoodOf(one, sample) }))
    .filter(({ likely }) => likely > 0)
    .sort((one, other) => other.likely - one.likely)
    .map(({ label }) => label)
}

/**
 * The share of usual letters; 0 below the least share. The bytes of Hangul, and of Japanese in EUC-JP, are also those of Chinese.
 * A text that is nearly all Hangul, or has kana, is what it looks like.
 */
function likelihoodOf({ label, usual, second, kana, signs }: Eastern, sample: Uint8Array): number {
  let [letters, known, ofKana] = [0, 0, 0]
  let wasEastern = false
  for (let at = 0; at + 1 < sample.length; ) {
    const lead = sample[at] ?? 0
    const trail = sample[at + 1] ?? 0
    const isHalf = label === 'shift_jis' && lead >= 0xa1 && lead <= 0xdf
    const isPair = lead > 0x7f && !isHalf
    if (isPair && trail < 0x40) return 0
    const code = lead * 0x100 + trail
    if (isHalf || (isPair && !isWithin(code, signs))) {
      letters++
      const isKana = isPair && kana !== undefined && isWithin(code, kana)
      const isUsual = isKana || (isPair && trail >= second && isWithin(code, usual))
      const next = sample[at + 2] ?? 0
      const isAlone = !wasEastern && next <= 0x7f && (isLatin(sample[at - 1]) || isLatin(next))
      if (isUsual && !isAlone) known++
      if (isKana && !isAlone) ofKana++
    }
    wasEastern = lead > 0x7f
    at += isPair ? 2 : 1
  }
  const share = known / letters
  if (letters < fewestLetters || share < leastShare) return 0
  if (ofKana * 10 >= letters) return share + 2
  return label === 'euc-kr' ? share + 1 : share
}

const isWithin = (code: number, [from, to]: Range): boolean => code >= from && code <= to
/** A letter or digit of ASCII. Beside one, a letter with an accent looks like a single one of the East. */
const isLatin = (byte = 0): boolean => /[0-9A-Za-z]/.test(String.fromCharCode(byte))

/** As `strictly`, and null where a byte stands for a control character, which no document holds. */
const likely = (bytes: Uint8Array, label: string): string | null => {
  const text = strictly(bytes, label)
  return text === null || /[\x80-\x9f]/.test(text) ? null : text
}
