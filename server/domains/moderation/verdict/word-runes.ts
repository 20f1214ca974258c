/** The first plane: 0 unknown, 1 no, 2 yes. */
const known = new Uint8Array(0x10000)
const word = /[\p{L}\p{M}\p{Nl}\p{Nd}\p{Pc}]/u

/** Is it a word character: a letter, mark, digit, or connector such as `_`? The edges of a text are not. */
export function isWordRune(rune: number): boolean {
  if (rune < 0) return false
  if (rune >= known.length) return word.test(String.fromCodePoint(rune))
  known[rune] ||= word.test(String.fromCharCode(rune)) ? 2 : 1
  return known[rune] === 2
}
