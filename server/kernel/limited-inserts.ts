import { randomInt } from 'node:crypto'
import { isDuplicate, type Model, type QueryFilter } from '#server/ports/database/port'

/** A record with one of a limited number of slots. A unique index of its model keeps the slots distinct. */
interface SlottedRecord {
  _id: string
  place?: number
}

interface Limit<T> {
  /** The records that count, which the unique index on `place` keeps distinct. */
  others: QueryFilter<T>
  /** Null for any number. */
  most: number | null
  /** Throws if the record violates another unique index. */
  refuseDuplicate?(): Promise<void>
}

/**
 * Inserts a record unless the limit is reached, even in a race. Returns the record under its id, which an earlier
 * attempt may have stored; null if no slot is free.
 */
export async function insertWithinLimit<T extends SlottedRecord>(
  model: Model<T>,
  record: T,
  { others, most, refuseDuplicate }: Limit<T>,
): Promise<T | null> {
  for (;;) {
    const before = await model.findOne({ _id: record._id }).lean<T>()
    if (before) return before
    const slotted = most === null ? record : await inFreeSlot(model, record, others, most)
    if (!slotted) return null
    try {
      await model.create(slotted)
      return slotted
    } catch (error) {
      if (!isDuplicate(error)) throw error
      await refuseDuplicate?.()
    }
  }
}

/** The record with a random free slot, so that simultaneous calls seldom choose the same; null if none is free. */
async function inFreeSlot<T extends SlottedRecord>(
  model: Model<T>,
  record: T,
  others: QueryFilter<T>,
  most: number,
): Promise<T | null> {
  const taken = new Set<unknown>(await model.distinct('place', others))
  const free = Array.from({ length: most }, (_, place) => place).filter((place) => !taken.has(place))
  return free.length === 0 ? null : { ...record, place: free[randomInt(free.length)] }
}
