const chunkLength = 1_000
const chunkOverlap = 100
const step = chunkLength - chunkOverlap
const shortest = 50
/** A chunk ends between words, if a word ends this near. */
const nearby = 80

/** Overlapping chunks of a text that begin and end between words. Those of up to 50 characters are dropped. */
export function textChunks(text: string): string[] {
  const chunks: string[] = []
  for (let start = 0; start === 0 || start + chunkOverlap < text.length; start += step) {
    const window = text.slice(wordAfter(text, start), wordBefore(text, start + chunkLength)).trim()
    if (window.length > shortest) chunks.push(window)
  }
  return chunks
}

function wordAfter(text: string, at: number): number {
  if (at === 0) return 0
  for (let next = at; next < at + nearby; next++) if (isSpace(text, next - 1)) return next
  return isLowSurrogate(text, at) ? at + 1 : at
}

function wordBefore(text: string, at: number): number {
  if (at >= text.length) return text.length
  for (let next = at; next > at - nearby; next--) if (isSpace(text, next)) return next
  return isLowSurrogate(text, at) ? at - 1 : at
}

const isSpace = (text: string, at: number) => /\s/.test(text[at] ?? '')
const isLowSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xdc00
