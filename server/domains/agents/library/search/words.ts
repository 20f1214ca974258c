const endings = /(ization|ational|ations?|ments?|ness|ities|ity|ings?|edly|ies|ied|ers?|ors?|ed|ly|es|s|e|y)$/

/** Stems of the words of a text, so that forms of a word match. */
export function termsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, '')
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) => {
    if (common.has(word)) return []
    if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(word)) return pairsOf(word)
    const stem = word.slice(0, 40).replace(endings, '')
    return [stem.length < 3 ? word : stem]
  })
}

/** Scripts without spaces are compared by pairs of characters. */
function pairsOf(word: string): string[] {
  const signs = [...word]
  return signs.length < 2 ? signs : signs.slice(1).map((sign, at) => `${signs[at]}${sign}`)
}

const common = new Set(
  `a about all also am an and any are as at be been but by can could did do does each for from had has have he her his how i if in
  into is it its me my no not of on or our she so some such than that the their them then there these they this those to too us was we
  were what when where which who whom whose why will with would you your`.split(/\s+/),
)
