// Lowercase characters that pass for ASCII letters and that no Unicode normal form maps to them.
const looksLike: Readonly<Record<string, string>> = {
  a: 'аαɑᴀ',
  b: 'вьβʙƅ',
  c: 'сᴄϲ',
  d: 'ԁᴅđɖɗ',
  e: 'еёεᴇɛєℯ',
  f: 'ꜰƒ',
  g: 'ɡɢԍց',
  h: 'нһʜհħ',
  i: 'іιıɪɩӏ',
  j: 'јᴊ',
  k: 'кκᴋқ',
  l: 'ʟłⅼǀ',
  m: 'мᴍ',
  n: 'пηɴո',
  o: 'оοᴏօø',
  p: 'рρᴘ',
  q: 'ԛգ',
  r: 'гʀɾ',
  s: 'ѕꜱƽ',
  t: 'тτᴛŧ',
  u: 'υᴜսμʋ',
  v: 'ѵνᴠ',
  w: 'ԝωᴡѡա',
  x: 'хχ×',
  y: 'уүγʏ',
  z: 'ᴢʐ',
  ae: 'æ',
  oe: 'œ',
  ss: 'ß',
}

const asciiOf = new Map(Object.entries(looksLike).flatMap(([ascii, twins]) => [...twins].map((twin) => [twin, ascii])))

// Letters in flags (🇦) and in black squares and circles (🅰, 🅐).
const drawnLetters = [0x1f1e6, 0x1f150, 0x1f170]

/** Replaces each look-alike by the ASCII it passes for. */
function unmask(text: string): string {
  let plain = ''
  for (const character of text) plain += asciiOf.get(character) ?? drawnLetter(character) ?? character
  return plain
}

function drawnLetter(character: string): string | undefined {
  if (character.length === 1) return undefined
  const point = character.codePointAt(0) ?? 0
  const first = drawnLetters.find((start) => point >= start && point < start + 26)
  return first === undefined ? undefined : String.fromCharCode(97 + point - first)
}

const alphabets = String.raw`\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}`
const alphabeticWords = new RegExp(`[${alphabets}][${alphabets}\\p{M}]*`, 'gu')
const latinOrGreek = /[\p{Script=Latin}\p{Script=Greek}]/u
const marks = /[\p{Mn}\p{Me}]+/gu

// Vowel points and signs of recitation. Hamza and madda are no points: on other letters than alef they make another letter.
const points =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08ff]+/g
const alefs = /\u0627[\u0653-\u0655]+/g

// Marks of no script, such as a stroke through a letter, or of no Cyrillic letter, such as a stress.
const laidOn =
  /(?<=\p{Script=Cyrillic})[\p{Mn}\p{Me}]+|[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+/gu

const syllables = /[\uac00-\ud7a3]+/g

/**
 * A decomposed text without its accents and points. Marks that are letters, or parts of letters, stay: vowels of Hindi and Thai,
 * `が` and `й`. Latin and Cyrillic letters in one word are a disguise, so that no mark of it stays. Korean syllables stay
 * decomposed, so that a word is found by its start.
 */
function withoutAccents(decomposed: string): string {
  return decomposed
    .replace(alphabeticWords, (word) => (latinOrGreek.test(word) ? word.replace(marks, '') : word))
    .replace(points, '')
    .replace(alefs, '\u0627')
    .normalize('NFC')
    .replace(laidOn, '')
    .replace(syllables, (written) => written.normalize('NFD'))
}

// Unicode's bound for streams (UAX 15): normalising is quadratic in the marks on one character.
const marksInARow = 30
const stacked = new RegExp(`(\\p{M}{${marksInARow}})\\p{M}+`, 'gu')

/** The text in a normal form, with at most thirty marks on one character; the others say nothing. */
export const normalized = (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string =>
  text.replace(stacked, '$1').normalize(form)

const ascii = /^[\0-\x7f]*$/
// Among them the stroke that draws out an Arabic word.
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u0640]/gu

// Among them the sigma, which is drawn like `o` and, where it ends a word, like `s`.
export const leets = /[0-9@$!|+σ]/g
const letterOf: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'i',
  '+': 't',
  σ: 'o',
}
const orL = { '1': 'l', '!': 'l', '|': 'l' }
const orS = { σ: 's' }
const letterOrL: Readonly<Record<string, string>> = { ...letterOf, ...orL }
/** Each way to read digits, signs and a sigma as letters. */
export const letters = [letterOrL, letterOf, { ...letterOrL, ...orS }, { ...letterOf, ...orS }]

/** Raised when skeletons or search words change: stored ones are then computed again. */
export const skeletonVersion = 4

/** The text without what only disguises it: case, width, accents, invisible characters, look-alikes. */
export function skeleton(text: string): string {
  if (ascii.test(text)) return text.toLowerCase()
  return unmask(withoutAccents(lowered(normalized(text, 'NFKD')).replace(invisible, '')))
}

/** Lower case with one form of sigma, and with `i` for a Turkish `İ`. */
export const lowered = (text: string): string => text.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ')

/** Replaces digits, signs and pairs such as `rn` by similar letters. Keeps only letters, digits and pictographs. */
const lookOf = (name: string, read: Readonly<Record<string, string>>): string =>
  skeleton(name)
    .replace(leets, (written) => read[written] ?? written)
    .replace(/[^\p{L}\p{N}\p{Extended_Pictographic}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** The strictest form, for reserved names: characters similar to `i` or `l` become one letter. */
export const glance = (name: string): string => lookOf(name, letterOrL).replaceAll('i', 'l')

// Of Latin, Greek and Cyrillic, the last one in both cases.
const capitalI = /[IΙІӀ]/g

/**
 * The readings of a name by UTS 39: a capital `I`, `l`, `1` and `|` look alike. A small `i` does not. The first has its case
 * folded. The others read capitals, and digits and signs, the other way.
 */
export function looksOf(name: string): [look: string, ...others: string[]] {
  const drawn = name.normalize('NFKD').replace(capitalI, 'l')
  const others = letters.flatMap((read) => [lookOf(name, read), lookOf(drawn, read)])
  return [lookOf(name, letterOrL), ...others]
}
