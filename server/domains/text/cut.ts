/** The beginning of a text, of at most so many UTF-16 code units, that ends with a whole character. */
export const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
