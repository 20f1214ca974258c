import { badges } from '#shared/kit/primitives'

const letterOf = (script: string) => String.raw`[\p{Script=${script}}&&\p{L}]`
const markOf = (script: string) => String.raw`[\p{Script_Extensions=${script}}&&\p{M}]`
const either = (parts: readonly string[]) => parts.join('|')

/** Scripts whose letters join, unless U+200C separates them. */
const cursive = ['Arabic', 'Syriac', 'Mongolian', 'Nko', 'Mandaic', 'Manichaean']
/** Scripts in which a virama with U+200C or U+200D shapes consonants. */
const conjoining =
  'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Balinese Javanese'.split(
    ' ',
  )
const viramas = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u1039\u103a\u17d2\u1b44\ua9c0]`

const betweenLetters = (script: string) =>
  `(?<=${letterOf(script)}${markOf(script)}{0,4})\\u200c(?=${letterOf(script)})`
const atVirama = (script: string) =>
  `(?<=${letterOf(script)}${markOf(script)}{0,2}${viramas})(?:\\u200c(?=${letterOf(script)})|\\u200d)|(?<=${letterOf(script)})\\u200d(?=${viramas}${letterOf(script)})`
/** Joiners in their scripts: rules A1, A2 and B of UAX 31, and the Bengali ya-phalaa of a ra. */
const joiners = new RegExp(either([...cursive.map(betweenLetters), ...conjoining.map(atVirama)]), 'gv')

const emoji =
  /\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)+|\p{RGI_Emoji}/gv
const ofEmoji = /[\u200d\u{e0020}-\u{e007f}]/gu

const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Co}\u115f\u1160\u3164\uffa0\u2800]/u
const stackedMarks = /[\p{Mn}\p{Me}]{3}/u

/** The most marks of its own script on a letter; other letters have two. */
const ownMarks: readonly (readonly [script: string, most: number])[] = [
  ['Hebrew', 5],
  ['Tibetan', 5],
  ['Arabic', 4],
  ['Syriac', 4],
  ['Myanmar', 5],
  ['Thai', 3],
  ['Lao', 3],
  ...conjoining.map((script) => [script, 4] as const),
]
const marksOfLetters = new RegExp(
  either([
    ...ownMarks.map(([script, most]) => `(?<=${letterOf(script)})${markOf(script)}{1,${most}}(?!\\p{M})`),
    // Breathing, accent and iota.
    String.raw`(?<=\p{Script=Greek})[\u0300\u0301\u0308\u0313\u0314\u0342\u0345]{3}(?!\p{M})`,
  ]),
  'gv',
)

/** The disguise in a name, as a message: hidden characters, a badge, or stacked marks; null if there is none. */
export function disguiseOf(name: string): string | null {
  const shown = name.replace(joiners, '').replace(emoji, (sign) => sign.replace(ofEmoji, ''))
  if (invisibleCharacters.test(shown)) return 'It holds a character that is not seen'
  if (badges.test(shown)) return 'It holds a sign that passes for a badge'
  return stackedMarks.test(shown.normalize('NFD').replace(marksOfLetters, '')) ? 'It piles up marks on a letter' : null
}
