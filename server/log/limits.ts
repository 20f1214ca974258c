/** Rows of a room in memory, and rows of one query. */
export const ringRows = 200
export const pageRows = 200

/** The most acts that one turn judges, and so the most rows of a hint. */
export const turnRows = 512

/** A node with an older lease may be dead, and does not act. */
export const leaseMilliseconds = 5_000

/** The longest time after which the store may still execute an insert. */
export const longestInsertMilliseconds = 5_000
