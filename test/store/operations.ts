import fc from 'fast-check'

export interface Row {
  _id: string
  n?: number | null
  s?: string | null
  t?: string[]
}
type Comparable = number | string | null
export type Condition = Comparable | { [operator: string]: Comparable | Comparable[] | boolean }
export interface Filter {
  _id?: Condition
  n?: Condition
  s?: Condition
  t?: Condition
  $or?: Filter[]
}
export interface Update {
  $set?: { s?: string | null; n?: number | null }
  $inc?: { n: number }
  $unset?: { s: 1 }
  $addToSet?: { t: string }
  $pull?: { t: string }
}
export interface Page {
  sort: Record<string, 1 | -1>
  skip: number
  limit: number
}
export interface Index {
  key: Record<string, 1 | -1>
  unique?: true
}
export type Operation =
  | { name: 'insertMany'; rows: Row[]; ordered: boolean }
  | { name: 'updateOne' | 'updateMany'; filter: Filter; update: Update; upsert: boolean }
  | { name: 'findOneAndUpdate'; filter: Filter; update: Update; sort: Page['sort'] }
  | { name: 'findOneAndDelete'; filter: Filter; sort: Page['sort'] }
  | { name: 'deleteMany' | 'count'; filter: Filter }
  | { name: 'find'; filter: Filter; page: Page }

/** The operations that a collection and its model have in common. */
export interface Target {
  insertMany(rows: Row[], options: { ordered: boolean }): Promise<unknown>
  updateOne(filter: object, update: object, options: { upsert: boolean }): Promise<unknown>
  updateMany(filter: object, update: object, options: { upsert: boolean }): Promise<unknown>
  findOneAndUpdate(
    filter: object,
    update: object,
    options: { sort: Page['sort']; returnDocument: 'after' },
  ): Promise<unknown>
  findOneAndDelete(filter: object, options: { sort: Page['sort'] }): Promise<unknown>
  deleteMany(filter: object): Promise<unknown>
  countDocuments(filter: object): Promise<unknown>
  find(filter: object, page: Page): { toArray(): Promise<unknown> }
}

export async function run(target: Target, operation: Operation): Promise<unknown> {
  switch (operation.name) {
    case 'insertMany':
      return target.insertMany(structuredClone(operation.rows), { ordered: operation.ordered })
    case 'updateOne':
    case 'updateMany':
      return target[operation.name](operation.filter, operation.update, { upsert: operation.upsert })
    case 'findOneAndUpdate':
      return target.findOneAndUpdate(operation.filter, operation.update, {
        sort: operation.sort,
        returnDocument: 'after',
      })
    case 'findOneAndDelete':
      return target.findOneAndDelete(operation.filter, { sort: operation.sort })
    case 'deleteMany':
      return target.deleteMany(operation.filter)
    case 'count':
      return target.countDocuments(operation.filter)
    case 'find':
      return target.find(operation.filter, operation.page).toArray()
  }
}

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const number = fc.constantFrom(-1.5, 0, 1, 2, 3, 2 ** 40)
const string = fc.constantFrom('', 'a', 'ab', 'b', 'é', '\uffff', '\u{1F600}')
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 6 })
const rows = fc.array(
  fc.record(
    { _id: id, n: orNull(number), s: orNull(string), t: fc.array(string, { maxLength: 3 }) },
    { requiredKeys: ['_id'] },
  ),
  { minLength: 1, maxLength: 4 },
)

const conditionOn = <T extends Comparable>(value: fc.Arbitrary<T>): fc.Arbitrary<Condition> =>
  fc.oneof(
    orNull(value),
    fc.record({ $gte: value, $lt: value }),
    fc.oneof(fc.record({ $gt: value }), fc.record({ $lte: value })),
    fc.record({ $in: fc.array(orNull(value), { maxLength: 3 }) }),
    fc.oneof(fc.record({ $ne: orNull(value) }), fc.record({ $nin: fc.array(orNull(value), { maxLength: 2 }) })),
    fc.record({ $exists: fc.boolean() }),
  )
const fields = fc.record(
  { _id: conditionOn(id), n: conditionOn(number), s: conditionOn(string), t: conditionOn(string) },
  { requiredKeys: [] },
)
const filter: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 5, arbitrary: fields },
  { weight: 1, arbitrary: fc.record({ $or: fc.array(fields, { minLength: 1, maxLength: 2 }) }) },
)
const byId: fc.Arbitrary<Filter> = fc.record({ _id: id })

const update: fc.Arbitrary<Update> = fc
  .record(
    {
      $set: fc.record({ s: orNull(string) }),
      $inc: fc.record({ n: fc.constantFrom(0, 1, -2) }),
      $addToSet: fc.record({ t: string }),
    },
    { requiredKeys: [] },
  )
  .filter((given) => Object.keys(given).length > 0)
const otherUpdate: fc.Arbitrary<Update> = fc.oneof(
  fc.record({ $set: fc.record({ n: orNull(number) }), $unset: fc.constant({ s: 1 as const }) }),
  fc.record({ $pull: fc.record({ t: string }) }),
)
const anyUpdate = fc.oneof(update, otherUpdate)

const sort = fc.constantFrom<Page['sort']>(
  { _id: 1 },
  { n: 1, _id: -1 },
  { n: -1, s: 1, _id: 1 },
  { s: -1, _id: 1 },
  { t: 1, _id: 1 },
  { t: -1, _id: 1 },
)
const page = fc.record({ sort, skip: fc.nat(2), limit: fc.nat(4) })
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ name: fc.constant('insertMany' as const), rows, ordered: fc.boolean() }),
  fc.record({ name: fc.constant('updateOne' as const), filter: byId, update: anyUpdate, upsert: fc.boolean() }),
  fc.record({ name: fc.constant('updateMany' as const), filter, update: otherUpdate, upsert: fc.constant(false) }),
  fc.record({ name: fc.constant('findOneAndUpdate' as const), filter, update: anyUpdate, sort }),
  fc.record({ name: fc.constant('findOneAndDelete' as const), filter, sort }),
  fc.record({ name: fc.constantFrom('deleteMany' as const, 'count' as const), filter: fc.oneof(byId, filter) }),
  fc.record({ name: fc.constant('find' as const), filter, page }),
  fc.record({ name: fc.constant('find' as const), filter, page }),
)
const index: fc.Arbitrary<Index> = fc.constantFrom(
  { key: { n: 1 } },
  { key: { s: 1, n: -1 } },
  { key: { n: -1, _id: 1 } },
  { key: { t: 1, n: 1 } },
  { key: { s: -1, _id: 1 } },
)
const indexes = fc.uniqueArray(index, { maxLength: 3, selector: ({ key }) => JSON.stringify(key) })
const unique: Index = { key: { n: 1, s: 1 }, unique: true }

/** A few indexes, sometimes a unique one with operations that touch one document each, and operations to run in turn. */
export const commands: fc.Arbitrary<{ indexes: Index[]; operations: Operation[] }> = fc.oneof(
  fc.record({ indexes, operations: fc.array(operation, { minLength: 5, maxLength: 25 }) }),
  fc.record({
    indexes: indexes.map((some) => [...some, unique]),
    operations: fc.array(
      operation.filter(({ name }) => name !== 'updateMany'),
      { minLength: 5, maxLength: 25 },
    ),
  }),
)
