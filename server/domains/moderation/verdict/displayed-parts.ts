import { drawnOf, marksIn, nestingOf } from '#shared/kit/markup'
import { type Budget, spend } from './budget.ts'
import type { MessagePart } from './content.ts'

/** A part of a message with its displayed text. */
export interface DisplayedPart extends MessagePart {
  /** The displayed text. */
  words: string
  /** The targets of its links. */
  targets: readonly string[]
}

/** The deepest nesting that is judged. */
const deepest = 250
// Measured: a sign takes at most 0.03 ms, a line of nested lists and quotes 0.06 ms for each pair. A microsecond is 160
// steps.
const stepsOfCharacter = 20
const stepsOfMark = 5_000
/** So few take no longer than the rest of the work on a text. */
const freeMarks = 20
const stepsOfPair = 10_000

/** The parts as displayed; null if one is nested too deep or too costly to read. */
export function displayedPartsOf(parts: readonly MessagePart[], budget: Budget): readonly DisplayedPart[] | null {
  const displayed: DisplayedPart[] = []
  for (const part of parts) {
    const { reading, text } = part
    if (reading !== 'address' && (nestingOf(text) > deepest || !spend(budget, stepsOf(text)))) return null
    const drawn = reading === 'address' ? null : drawnOf(text)
    displayed.push({ ...part, ...(drawn ?? { words: text, targets: [] }) })
  }
  return displayed
}

function stepsOf(text: string): number {
  const marks = marksIn(text) ?? 0
  if (marks === 0) return 0
  const lines = text.match(containers)?.map((opening) => opening.replace(/[^>)*+.-]/g, '').length) ?? []
  const pairs = lines.reduce((sum, count) => sum + count * (count - 1), 0)
  return text.length * stepsOfCharacter + Math.max(0, marks - freeMarks) * stepsOfMark + pairs * stepsOfPair
}

/** The markers of quotes and lists at the start of a line. */
const containers = /^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*)+/gm
