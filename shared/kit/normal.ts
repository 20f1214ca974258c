// Unicode's bound for streams (UAX 15): normalising is quadratic in the marks on one character.
const marksInARow = 30
const stacked = new RegExp(`(\\p{M}{${marksInARow}})\\p{M}+`, 'gu')

/** The text in a normal form, with at most thirty marks on one character; the others say nothing. */
export const normalized = (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string =>
  text.replace(stacked, '$1').normalize(form)
