import { serverError } from './errors.ts'
import type { Index, IndexRecord } from './indexes.ts'

/** What an index is asked to be. */
export type Definition = Omit<IndexRecord, 'tree'>

/** What tells two indexes on the same key apart. */
const signatureOf = ({ key, unique, partialFilterExpression }: Definition): string =>
  JSON.stringify([Object.entries(key), unique, partialFilterExpression])

export const isSame = (one: Definition, other: Definition): boolean =>
  Object.keys(one.key).join() === '_id' && Object.keys(other.key).join() === '_id'
    ? true
    : one.name === other.name &&
      signatureOf(one) === signatureOf(other) &&
      one.expireAfterSeconds === other.expireAfterSeconds

export function checkNames(indexes: readonly Index[], given: Definition): void {
  for (const { record } of indexes) {
    const same = signatureOf(record) === signatureOf(given)
    if (same) throw serverError(85, `Index already exists with a different name or options: ${record.name}`)
    if (record.name === given.name)
      throw serverError(86, `An existing index has the same name as the requested index: ${given.name}`)
  }
}
