import mongoose from 'mongoose'
import type { Condition, Filter, Index, Page, Row, Target, Update } from './operations.ts'

type Value = number | string | null | undefined

/** The simplest model of a collection: a list of documents, scanned from its beginning. */
export class Model implements Target {
  #rows: Row[] = []
  readonly #unique: string[][]

  constructor(indexes: Index[]) {
    this.#unique = [['_id'], ...indexes.filter(({ unique }) => unique).map(({ key }) => Object.keys(key))]
  }

  async insertMany(rows: Row[], { ordered }: { ordered: boolean }) {
    const failures: { index: number; code: number }[] = []
    const insertedIds: Record<number, string> = {}
    for (const [index, row] of rows.entries()) {
      if (ordered && failures.length > 0) break
      if (this.#clash(row)) failures.push({ index, code: 11000 })
      else {
        this.#rows.push(row)
        insertedIds[index] = row._id
      }
    }
    const insertedCount = Object.keys(insertedIds).length
    if (failures.length === 0) return { acknowledged: true, insertedCount, insertedIds }
    const result = {
      insertedCount,
      matchedCount: 0,
      modifiedCount: 0,
      deletedCount: 0,
      upsertedCount: 0,
      upsertedIds: {},
      insertedIds,
    }
    throw Object.assign(new mongoose.mongo.MongoServerError({ code: 11000 }), { writeErrors: failures, result })
  }

  async updateOne(filter: Filter, update: Update, { upsert }: { upsert: boolean }) {
    const found = this.#found(filter).slice(0, 1)
    if (found.length > 0 || !upsert) return this.#updated(found, update)
    const row = changed({ _id: String(filter._id) }, update)
    this.#insist(row)
    this.#rows.push(row)
    return { acknowledged: true, modifiedCount: 0, upsertedId: row._id, upsertedCount: 1, matchedCount: 0 }
  }

  async updateMany(filter: Filter, update: Update) {
    return this.#updated(this.#found(filter), update)
  }

  async findOneAndUpdate(filter: Filter, update: Update, { sort }: { sort: Page['sort'] }) {
    const [row] = ordered(this.#found(filter), sort)
    return row ? this.#replace(row, update) : null
  }

  async findOneAndDelete(filter: Filter, { sort }: { sort: Page['sort'] }) {
    const [row] = ordered(this.#found(filter), sort)
    this.#rows = this.#rows.filter((each) => each !== row)
    return row ?? null
  }

  async deleteMany(filter: Filter) {
    const found = this.#found(filter)
    this.#rows = this.#rows.filter((row) => !found.includes(row))
    return { acknowledged: true, deletedCount: found.length }
  }

  async countDocuments(filter: Filter) {
    return this.#found(filter).length
  }

  find(filter: Filter, { sort, skip, limit }: Page) {
    const rows = ordered(this.#found(filter), sort)
    return { toArray: async () => rows.slice(skip, limit === 0 ? undefined : skip + limit) }
  }

  #found(filter: Filter): Row[] {
    return this.#rows.filter((row) => meets(row, filter))
  }

  #updated(found: Row[], update: Update) {
    const modifiedCount = found.filter((row) => this.#replace(row, update) !== row).length
    return { acknowledged: true, modifiedCount, upsertedId: null, upsertedCount: 0, matchedCount: found.length }
  }

  #replace(row: Row, update: Update): Row {
    const after = changed(row, update)
    if (JSON.stringify(after) === JSON.stringify(row)) return row
    this.#insist(after)
    this.#rows = this.#rows.map((each) => (each === row ? after : each))
    return after
  }

  #clash(row: Row): string[] | undefined {
    const others = this.#rows.filter(({ _id }) => _id !== row._id)
    if (this.#rows.length > others.length) return ['_id']
    return this.#unique.find((fields) => others.some((other) => keyOf(other, fields) === keyOf(row, fields)))
  }

  #insist(row: Row): void {
    const others = this.#rows.filter(({ _id }) => _id !== row._id)
    const fields = this.#unique.find((each) => others.some((other) => keyOf(other, each) === keyOf(row, each)))
    if (!fields) return
    const keyPattern = Object.fromEntries(fields.map((field) => [field, 1]))
    throw new mongoose.mongo.MongoServerError({
      code: 11000,
      keyPattern,
      keyValue: Object.fromEntries(fields.map((field) => [field, fieldOf(row, field) ?? null])),
    })
  }
}

const fieldOf = (row: Row, field: string): Value | string[] => Object.entries(row).find(([name]) => name === field)?.[1]
const keyOf = (row: Row, fields: string[]): string => JSON.stringify(fields.map((field) => fieldOf(row, field) ?? null))

function changed(row: Row, { $set, $inc, $unset, $addToSet, $pull }: Update): Row {
  if ($inc && row.n === null) throw new mongoose.mongo.MongoServerError({ code: 14 })
  const after: Row = { ...row, ...$set }
  if ($inc) after.n = (row.n ?? 0) + $inc.n
  if ($unset) delete after.s
  if ($addToSet && !row.t?.includes($addToSet.t)) after.t = [...(row.t ?? []), $addToSet.t]
  if ($pull && row.t) after.t = row.t.filter((item) => item !== $pull.t)
  return after
}

function meets(row: Row, { $or, ...conditions }: Filter): boolean {
  if ($or && !$or.some((filter) => meets(row, filter))) return false
  return Object.entries(conditions).every(([field, condition]) => holds(fieldOf(row, field), condition))
}

function holds(value: Value | string[], condition: Condition): boolean {
  const items = Array.isArray(value) ? value : [value]
  const equal = (wanted: unknown) => items.some((item) => (item ?? null) === wanted)
  if (condition === null || typeof condition !== 'object') return equal(condition)
  return Object.entries(condition).every(([operator, operand]) => {
    if (operator === '$exists') return (value !== undefined) === operand
    if (operator === '$ne') return !equal(operand)
    if (operator === '$in' || operator === '$nin')
      return (Array.isArray(operand) && operand.some(equal)) === (operator === '$in')
    return items.some((item) => inRange(item, operator, operand as number | string))
  })
}

function inRange(item: Value, operator: string, limit: number | string): boolean {
  if (typeof item !== typeof limit) return false
  const order = compare(item, limit)
  return { $gt: order > 0, $gte: order >= 0, $lt: order < 0, $lte: order <= 0 }[operator] ?? false
}

function compare(one: Value, other: Value): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other))
  return Number((one ?? null) !== null) - Number((other ?? null) !== null)
}

function ordered(rows: Row[], sort: Page['sort']): Row[] {
  return rows.toSorted((one, other) => {
    for (const [field, direction] of Object.entries(sort)) {
      const order = compareFields(fieldOf(one, field), fieldOf(other, field), direction)
      if (order !== 0) return order * direction
    }
    return 0
  })
}

/** An empty array sorts before null; any other sorts by its first item in the requested order. */
function compareFields(one: Value | string[], other: Value | string[], direction: 1 | -1): number {
  const empty = (value: Value | string[]) => Array.isArray(value) && value.length === 0
  if (empty(one) || empty(other)) return Number(empty(other)) - Number(empty(one))
  const first = (value: Value | string[]) =>
    Array.isArray(value) ? value.toSorted((a, b) => compare(a, b) * direction)[0] : value
  return compare(first(one), first(other))
}
