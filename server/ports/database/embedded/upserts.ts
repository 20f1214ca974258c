import { serverError } from './errors.ts'
import { equalities, type Filter } from './filter.ts'
import { applyUpdate, seed, type Update } from './update.ts'
import { checkId, type Document, type Fields } from './values.ts'

/** What an upsert inserts: the equalities of its filter, as its update changes them. */
export function seeded(filter: Filter, update: Update): Document {
  const fields: Fields = {}
  const equal = equalities(filter).sort(([one], [other]) =>
    Buffer.compare(Buffer.from(one.join('.')), Buffer.from(other.join('.'))),
  )
  for (const [at, [path, value]] of equal.entries()) {
    const clash = equal
      .slice(0, at)
      .some(
        ([other]) =>
          other.every((field, depth) => path[depth] === field) || path.every((field, depth) => other[depth] === field),
      )
    if (clash) throw serverError(54, `cannot infer query fields to set, path '${path.join('.')}' is matched twice`)
    seed(fields, path, value)
  }
  const { _id, ...rest } = fields
  const document = { ...(_id === undefined ? {} : { _id }), ...rest } as Document
  applyUpdate(update, document, true)
  const id = checkId(document._id)
  if (_id !== undefined && id !== _id)
    throw serverError(66, "Performing an update on the path '_id' would modify the immutable field '_id'")
  return Object.assign({ _id: id }, document)
}
