/** Rows of a room that stay in memory, and rows that one query reads. */
export const ringRows = 200
export const pageRows = 200

/** Acts that one turn judges, and so rows that one hint carries. */
export const turnRows = 512

/** A node whose lease is older may be dead, and does not act. */
export const leaseMilliseconds = 5_000

/** So long after it was sent an insert may at most still be carried out. */
export const longestInsertMilliseconds = 5_000
