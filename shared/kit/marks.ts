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
export function withoutAccents(decomposed: string): string {
  return decomposed
    .replace(alphabeticWords, (word) => (latinOrGreek.test(word) ? word.replace(marks, '') : word))
    .replace(points, '')
    .replace(alefs, '\u0627')
    .normalize('NFC')
    .replace(laidOn, '')
    .replace(syllables, (written) => written.normalize('NFD'))
}
