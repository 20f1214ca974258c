/** Of the most common plane: 0 not looked at yet, 1 no, 2 yes. */
const known = new Uint8Array(0x10000)
const word = /[\p{L}\p{M}\p{Nl}\p{Nd}\p{Pc}]/u

/** Is it part of a word: a letter, a mark, a digit, or what joins words as `_` does? What comes before and after a text is not. */
export function isWordRune(rune: number): boolean {
  if (rune < 0) return false
  if (rune >= known.length) return word.test(String.fromCodePoint(rune))
  known[rune] ||= word.test(String.fromCharCode(rune)) ? 2 : 1
  return known[rune] === 2
}
