/** All that may be away or wrong while the rest works, and what that means. */
export const degradations = {
  redis: 'is away: nodes meet on the database alone',
  disk: 'is full: people read, and nobody can write',
  files: 'have no room beside the reserve of the disk: uploads are refused',
  clock: 'was set: rooms with later rows stand still at their time',
} as const
export type Degradation = keyof typeof degradations
