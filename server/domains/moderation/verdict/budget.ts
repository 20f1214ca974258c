/**
 * What judging one text may still cost, all lists and all its parts together. It is counted in steps and never measured, so
 * that the same text has the same verdict on every node, however busy that is. Below zero the text is too complex.
 */
export interface Budget {
  left: number
}

/** The most characters, in Unicode's composed form, of all that a message says: its text, names and addresses of files, options. */
export const longestJudged = 40_000

/** Takes these steps; false where there are not as many. */
export function spend(budget: Budget, steps: number): boolean {
  budget.left -= steps
  return budget.left >= 0
}
