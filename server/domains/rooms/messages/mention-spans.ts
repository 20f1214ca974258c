import { isBetweenCharacters } from '#shared/kit/cut'

interface Span {
  start: number
  len: number
}

const ofWord = String.raw`[\p{L}\p{M}\p{N}_]`
const afterWord = new RegExp(`(?<=${ofWord})`, 'uy')
const beforeWord = new RegExp(`(?=${ofWord})`, 'uy')

/** The fault of mention spans, or null: a span outside the text, within a character, or overlapping another. */
export function spansFault(text: string, spans: readonly Span[]): string | null {
  if (spans.some(({ start, len }) => start < 0 || start + len > text.length)) return 'outside the text'
  if (!spans.every((span) => isWhole(text, span))) return 'cuts a character in two'
  const inOrder = [...spans].sort((one, other) => one.start - other.start)
  const isApart = inOrder.every(({ start }, at) => start >= endOf(inOrder[at - 1]))
  return isApart ? null : 'two name the same words'
}

const endOf = (span: Span | undefined): number => (span ? span.start + span.len : 0)

const isWhole = (text: string, span: Span): boolean =>
  isBetweenCharacters(text, span.start) && isBetweenCharacters(text, endOf(span))

/**
 * Moves spans along with an edit. Between two changes a span is found by its words, if these occur once. A changed or
 * extended span is dropped.
 */
export function movedSpans<One extends Span>(spans: readonly One[], before: string, after: string): One[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const moved = (span: One): One | null => {
    if (endOf(span) <= head) return span
    if (span.start >= before.length - tail) return { ...span, start: span.start + after.length - before.length }
    const words = before.slice(span.start, endOf(span))
    return isOnce(before, words) && isOnce(after, words) ? { ...span, start: after.indexOf(words) } : null
  }
  return spans.flatMap((span) => {
    const now = moved(span)
    if (now === null || !isWhole(after, now)) return []
    const [was, is] = [gluedTo(before, span), gluedTo(after, now)]
    return (is.start && !was.start) || (is.end && !was.end) ? [] : [now]
  })
}

const isOnce = (text: string, words: string) => text.split(words).length === 2

/** Do letters directly precede or follow the span? */
const gluedTo = (text: string, span: Span) => ({
  start: isAt(afterWord, text, span.start),
  end: isAt(beforeWord, text, endOf(span)),
})

function isAt(edge: RegExp, text: string, at: number): boolean {
  edge.lastIndex = at
  return edge.test(text)
}
