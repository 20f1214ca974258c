const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** What follows a place decides no more than whether a character ends there. */
const lookedAhead = 2

/**
 * Cuts a text to so many code points, without half emoji, flags or accents. Only a first character that alone is too long is cut
 * within.
 */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  let end = 0
  for (let count = 0; count < most && end < text.length; count += 1) end += isPair(text, end) ? 2 : 1
  return upTo(text, end)
}

/** The same, of at most so many UTF-16 code units: where a limit is one of `length`. */
export const cutToLength = (text: string, most: number): string =>
  upTo(text, most > 0 && isPair(text, most - 1) ? most - 1 : most)

function upTo(text: string, end: number): string {
  if (end >= text.length) return text
  const whole = graphemes.segment(text.slice(0, end + lookedAhead)).containing(end)?.index ?? end
  return text.slice(0, whole === 0 ? end : whole)
}

/** Does a character as people see it begin at this place, in UTF-16 units, or the text end? */
export const isBetweenCharacters = (text: string, at: number): boolean =>
  at >= text.length || graphemes.segment(text).containing(at)?.index === at

/** Has a text at most so many characters as people see them? */
export function hasAtMost(text: string, most: number): boolean {
  const characters = graphemes.segment(text)[Symbol.iterator]()
  for (let count = 0; count <= most; count += 1) if (characters.next().done) return true
  return false
}

const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff

/** The text, of at most so many characters; what is cut ends in an ellipsis. */
export function withEllipsis(text: string, most: number): string {
  const whole = cut(text, most)
  return whole === text ? text : `${cut(text, most - 1)}…`
}

const most = 200

/** What a reply quotes of a text. */
export const quoteText = (text: string): string => cut(text, most)
