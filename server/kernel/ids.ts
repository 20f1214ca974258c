import { v7 } from 'uuid'

/** A new id, ordered by time. */
export const newId = (): string => v7()
