/** How models mark what they think before they answer, where their server does not keep it apart. */
const marks: readonly (readonly [opens: string, closes: string])[] = [
  ...['think', 'thinking', 'thought', 'reasoning'].map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[think]', '[/think]'],
]
const fences = ['```', '~~~']

interface Reading {
  /** What is left of a text, of which pieces come in order. */
  (piece: string): string
  /** What was held back as it might have been the beginning of a mark. */
  rest(): string
}

/**
 * Takes out of an answer what its model has thought aloud, however it is cut into pieces. It stands before the answer, or on lines of its own within it;
 * there a mark that is never closed is a word of the answer, and so is one within code.
 */
export function withoutThoughts(): Reading {
  let held = ''
  let closes: string | null = null
  /** Has nothing been said yet, so that a thought without an end is the whole answer? */
  let isFirst = true
  let isLineStart = true
  let isAfterThought = false
  let isCode = false

  const read = (piece: string): string => {
    held += piece
    let said = ''
    for (;;) {
      const next = closes === null ? outside() : within(closes)
      if (next === null) return said
      said += next
    }
  }

  /** The answer up to where a thought may begin; null where more must come first. */
  function outside(): string | null {
    if (held === '') return null
    if (!isLineStart) return upToLine()
    const indent = /^[^\S\n]*/.exec(held)?.[0] ?? ''
    const line = held.slice(indent.length)
    const lower = line.toLowerCase()
    const begun = [...(isCode ? [] : marks.map(([opens]) => opens)), ...fences]
    if (line !== '' && begun.some((sign) => sign.startsWith(lower) && sign !== lower)) return null
    const mark = isCode ? undefined : marks.find(([opens]) => lower.startsWith(opens))
    if (mark) {
      closes = mark[1]
      return ''
    }
    if (fences.some((fence) => line.startsWith(fence))) isCode = !isCode
    return upToLine()
  }

  function upToLine(): string {
    const end = held.indexOf('\n') + 1
    const taken = end === 0 ? held : held.slice(0, end)
    held = held.slice(taken.length)
    isLineStart = end > 0 || (isLineStart && taken.trim() === '')
    const said = isAfterThought ? taken.trimStart() : taken
    if (said.trim() !== '') isFirst = false
    if (said !== '') isAfterThought = false
    return said
  }

  /** A thought up to its end; null where that must come first. */
  function within(end: string): string | null {
    const at = held.toLowerCase().indexOf(end)
    if (at < 0) {
      // Its words are nobody's; of one that may turn out to be none they are kept.
      if (isFirst) held = held.slice(-end.length)
      return null
    }
    held = held.slice(at + end.length)
    closes = null
    isLineStart = true
    isAfterThought = true
    return ''
  }

  return Object.assign(read, {
    rest(): string {
      const said = closes !== null && isFirst ? '' : held
      held = ''
      return said
    },
  })
}
