/** Patterns on which a backtracking engine needs exponential time. */
export const evilPatterns = [
  '(a+)+$',
  '(a|a)*$',
  '(a|aa)+$',
  '(.*)*=',
  '(.*a){20}',
  '([a-z]+)*\\d',
  '(x+x+)+y',
  '^(a?){50}a{50}$',
  '(a*)*b',
  '((a+)+)+b',
  '(a|b)*a(a|b){30}z',
  '[ab]*a[ab]{60}c',
  '[ab]*a[ab]{120}c',
  '[ab]*a[ab]{190}[^ab]',
  '.{0,48}a.{0,49}[^ab]',
  '.{1,90}a.{1,9}[^ab]',
  '(ab|ba)*(a|b){40}[^ab]',
  '(.+)+\\s',
  '(\\w+\\s?)+!',
  '(\\d+)+x',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '^(\\w+\\.)*\\w+@$',
  '(.*?,){30}p',
  '(a?b?c?d?){40}z',
  '(a{0,20}){9}b',
  '([^b]*b){60}c',
  '\\pL*\\pL{50}\\d',
  '[\\s\\S]*a[\\s\\S]{100}\\z',
  '(?:a|ab|b)*(?:ba){20}c',
  '(aa|bb|ab|ba)*c{3}',
  '.*.*.*.*.*=.*',
  '(?i:a.*b.*a.*b.*a.*b.*c)',
  '(.|\\n)*?x{20}',
  '(\\b\\w*\\b)*q',
  '((((((a*)*)*)*)*)*)*b',
  '(a|b|ab)*(a|b){80}c',
  '[ab]{50}c|[ab]{51}d',
  '(?s).*a.{150}b.{20}$',
  'a.{60}b.{60}a.{60}c',
  '(a.b|b.a)*.{70}[^ab]',
  '[\\p{L}]+[\\p{N}]+$',
  '(\\p{L}|\\p{N})*z$',
]

const randomAb = (() => {
  let state = 7
  return Array.from({ length: 10_000 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % 65_536 < 32_768 ? 'a' : 'b'
  }).join('')
})()
/** The text to match, of the longest length of a message. */
export const evilTexts = [
  'a'.repeat(10_000),
  `${'a'.repeat(9_999)}!`,
  'ab'.repeat(5_000),
  randomAb,
  `${'word '.repeat(2_000)}`,
  'é1x '.repeat(2_499),
]
