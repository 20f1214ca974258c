import mongoose from 'mongoose'
import type { Steps } from './commits.ts'
import { isServerError } from './errors.ts'
import type { Value } from './values.ts'

export type Outcome =
  | { kind: 'insert' }
  | { kind: 'update'; matched: number; modified: number; upserted: string | null }
  | { kind: 'delete'; deleted: number }
export interface Operation {
  kind: Outcome['kind']
  /** The `_id` of a document to insert. */
  id?: string
  /** What the caller gave, as an error shows it. */
  given: object
  run(): Steps<Outcome>
}

/** The driver's account of one failed operation of several. */
export class WriteError {
  err: { index: number; code: number; errmsg: string; errInfo: undefined; op: object }

  constructor(index: number, error: unknown, op: object) {
    if (!isServerError(error)) throw error
    this.err = { index, code: Number(error.code), errmsg: error.message, errInfo: undefined, op }
  }

  get code(): number {
    return this.err.code
  }

  get index(): number {
    return this.err.index
  }

  get errmsg(): string {
    return this.err.errmsg
  }

  get errInfo(): undefined {
    return this.err.errInfo
  }

  getOperation(): object {
    return this.err.op
  }

  toJSON() {
    const { code, index, errmsg, op } = this.err
    return { code, index, errmsg, op }
  }
}

const KINDS: Outcome['kind'][] = ['insert', 'update', 'delete']

/** Runs the operations as the driver sends them: in order up to the first failure, or all, grouped by kind. */
export function* runBulk(operations: readonly Operation[], ordered: boolean): Steps<Total> {
  const total = emptyTotal()
  const listed = operations.map((operation, index) => ({ operation, index, shown: index }))
  for (const { operation, index } of listed)
    if (operation.kind === 'insert') total.insertedIds.push({ index, _id: operation.id })
  for (const { operation, index, shown } of ordered ? listed : byKind(listed)) {
    try {
      add(total, yield* operation.run(), shown)
      yield
    } catch (error) {
      total.writeErrors.push(new WriteError(index, error, operation.given))
      if (ordered) break
    }
  }
  return total
}

/** What inserting all of these comes to. */
export function insertedTotal(ids: readonly string[]): Total {
  const insertedIds = ids.map((_id, index) => ({ index, _id }))
  return { ...emptyTotal(), insertedIds, nInserted: ids.length }
}

/** The driver numbers upserts from the first operation of their kind. */
function byKind(listed: { operation: Operation; index: number; shown: number }[]) {
  return KINDS.flatMap((kind) => {
    const batch = listed.filter(({ operation }) => operation.kind === kind)
    return batch.map((each, at) => ({ ...each, shown: (batch[0]?.index ?? 0) + at }))
  })
}

function emptyTotal() {
  return {
    ok: 1,
    writeErrors: [] as WriteError[],
    writeConcernErrors: [],
    insertedIds: [] as { index: number; _id: Value | undefined }[],
    nInserted: 0,
    nUpserted: 0,
    nMatched: 0,
    nModified: 0,
    nRemoved: 0,
    upserted: [] as { index: number; _id: string }[],
  }
}
type Total = ReturnType<typeof emptyTotal>

function add(total: Total, outcome: Outcome, index: number): void {
  if (outcome.kind === 'insert') total.nInserted++
  if (outcome.kind === 'delete') total.nRemoved += outcome.deleted
  if (outcome.kind !== 'update') return
  total.nMatched += outcome.matched
  total.nModified += outcome.modified
  if (outcome.upserted === null) return
  total.nUpserted++
  total.upserted.push({ index, _id: outcome.upserted })
}

/** The driver's own result; with a failure among them, its own error. */
export function bulkResult(total: Total, ordered: boolean) {
  const result = new (driverResult())(total, ordered)
  const [first] = total.writeErrors
  if (!first) return result
  const error = new mongoose.mongo.MongoBulkWriteError({ message: first.errmsg, code: first.code }, result)
  throw Object.assign(error, { writeErrors: total.writeErrors })
}

type BulkWriteResult = mongoose.mongo.BulkWriteResult
interface Driver {
  get(): { BulkWriteResult: new (total: Total, ordered: boolean) => BulkWriteResult }
}

/** mongoose hands out the class; its types leave it out. */
function driverResult() {
  const { driver } = mongoose as unknown as { driver: Driver }
  return driver.get().BulkWriteResult
}
