import { drawnOf, marksIn, nestingOf } from '#shared/kit/markup'
import { type Budget, spend } from './budget.ts'
import type { Part } from './content.ts'

/** A part of a message, and what people read of it once it is drawn. */
export interface Said extends Part {
  /** Its text where it is drawn as it is written. */
  words: string
  /** Whereto its links lead. */
  targets: readonly string[]
}

/** The deepest nesting that is judged. */
const deepest = 250
// Measured: a sign takes 0.03 ms at most, a line of nested lists and quotes 0.06 ms for each pair of them; 160 steps are a microsecond.
const stepsOfCharacter = 20
const stepsOfMark = 5_000
/** So many take no longer than all else that is done for a text. */
const freeMarks = 20
const stepsOfPair = 10_000

/** The parts as they are drawn; null where one is nested too deep, or where reading them costs more than the budget. */
export function saidIn(parts: readonly Part[], budget: Budget): readonly Said[] | null {
  const said: Said[] = []
  for (const part of parts) {
    const { reading, text } = part
    if (reading !== 'address' && (nestingOf(text) > deepest || !spend(budget, stepsOf(text)))) return null
    const drawn = reading === 'address' ? null : drawnOf(text)
    said.push({ ...part, ...(drawn ?? { words: text, targets: [] }) })
  }
  return said
}

function stepsOf(text: string): number {
  const marks = marksIn(text) ?? 0
  if (marks === 0) return 0
  const lines = text.match(containers)?.map((opening) => opening.replace(/[^>)*+.-]/g, '').length) ?? []
  const pairs = lines.reduce((sum, count) => sum + count * (count - 1), 0)
  return text.length * stepsOfCharacter + Math.max(0, marks - freeMarks) * stepsOfMark + pairs * stepsOfPair
}

/** What a line of quotes and lists begins with. */
const containers = /^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*)+/gm
