import { randomInt } from 'node:crypto'
import { isDuplicate, type Model, type QueryFilter } from '#server/ports/database/port'

/** A record that takes one of a limited number of places; a unique index of its model lets no two records take the same. */
interface Placed {
  _id: string
  place?: number
}

interface Limit<T> {
  /** The records that are counted, and those that the unique index on `place` holds apart. */
  others: QueryFilter<T>
  /** Null for any number. */
  most: number | null
  /** Throws where the record repeats what another unique index holds. */
  refuseDuplicate?(): Promise<void>
}

/**
 * Inserts a record unless so many others stand already, in a race too. Returns the record that stands under its id, which may be that of an earlier attempt;
 * null where no place is free.
 */
export async function insertAmong<T extends Placed>(
  model: Model<T>,
  record: T,
  { others, most, refuseDuplicate }: Limit<T>,
): Promise<T | null> {
  for (;;) {
    const before = await model.findOne({ _id: record._id }).lean<T>()
    if (before) return before
    const placed = most === null ? record : await inFreePlace(model, record, others, most)
    if (!placed) return null
    try {
      await model.create(placed)
      return placed
    } catch (error) {
      if (!isDuplicate(error)) throw error
      await refuseDuplicate?.()
    }
  }
}

/** Null where none is free. One of them at random, as simultaneous calls then seldom choose the same. */
async function inFreePlace<T extends Placed>(
  model: Model<T>,
  record: T,
  others: QueryFilter<T>,
  most: number,
): Promise<T | null> {
  const taken = new Set<unknown>(await model.distinct('place', others))
  const free = Array.from({ length: most }, (_, place) => place).filter((place) => !taken.has(place))
  return free.length === 0 ? null : { ...record, place: free[randomInt(free.length)] }
}
