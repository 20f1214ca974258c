/**
 * The remaining cost of judging one text, for all lists and parts. It is counted in steps, never in time, so each node
 * gives the same verdict. Below zero the text is too complex.
 */
export interface Budget {
  left: number
}

/** The most characters, in composed Unicode, of a message: its text, file names, URLs and options. */
export const longestJudged = 40_000

/** Spends steps; false if the budget has fewer. */
export function spend(budget: Budget, steps: number): boolean {
  budget.left -= steps
  return budget.left >= 0
}
