/** The parts that may fail while the rest works, with the consequence of each. */
export const degradations = {
  redis: 'is away: nodes meet on the database alone',
  disk: 'is full: people read, and nobody can write',
  files: 'have no room beside the reserve of the disk: uploads are refused',
  clock: 'was set: rooms with later rows stand still at their time',
} as const
export type Degradation = keyof typeof degradations
