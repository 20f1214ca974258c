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
const stepsOfCharacter = 20
/** Each mark of Markdown may be looked at for each other one. */
const stepsOfPair = 80

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
  return marks === 0 ? 0 : text.length * stepsOfCharacter + marks ** 2 * stepsOfPair
}
