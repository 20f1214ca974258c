import type { Steps } from './commits.ts'
import { refuse, serverError } from './errors.ts'
import { parsePath } from './filter.ts'
import { openIndex, sortKey } from './indexes.ts'
import type { Sort } from './plan.ts'
import type { Reading, Storage } from './storage.ts'
import { type Document, type Fields, isFields, type Value } from './values.ts'

export interface FindOptions {
  sort?: unknown
  skip?: number
  limit?: number
  projection?: unknown
}

/** The driver's cursor: reads begin with the first document asked for. */
export class Cursor {
  readonly #run: (options: FindOptions, within: Reading) => Iterator<Document | undefined>
  readonly #read: Storage['read']
  readonly #options: FindOptions
  readonly #within: Reading = {}
  #documents: Iterator<Document | undefined> | undefined
  #peeked: Document | null | undefined
  closed = false

  constructor(
    run: (options: FindOptions, within: Reading) => Iterator<Document | undefined>,
    options: FindOptions,
    read: Storage['read'],
  ) {
    this.#run = run
    this.#read = read
    this.#options = { ...options }
  }

  sort(sort: unknown, direction?: unknown): this {
    return this.#set({ sort: typeof sort === 'string' && direction !== undefined ? { [sort]: direction } : sort })
  }

  skip(skip: number): this {
    return this.#set({ skip })
  }

  limit(limit: number): this {
    return this.#set({ limit })
  }

  project(projection: unknown): this {
    return this.#set({ projection })
  }

  batchSize(): this {
    return this
  }

  addCursorFlag(flag: string): this {
    return flag === 'noCursorTimeout' ? this : refuse(`the cursor flag ${flag}`)
  }

  async hasNext(): Promise<boolean> {
    if (this.#peeked === undefined) this.#peeked = await this.#read(this.#next(), this.#within)
    return this.#peeked !== null
  }

  async next(): Promise<Document | null> {
    const peeked = this.#peeked
    this.#peeked = undefined
    return peeked === undefined ? this.#read(this.#next(), this.#within) : peeked
  }

  async toArray(): Promise<Document[]> {
    const documents = await this.#read(this.#rest(), this.#within)
    this.closed = true
    return documents
  }

  async close(): Promise<void> {
    this.closed = true
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Document, void, void> {
    for (let document = await this.next(); document; document = await this.next()) yield document
    await this.close()
  }

  #set(options: FindOptions): this {
    if (this.#documents) throw new Error('Cursor is already initialized')
    Object.assign(this.#options, options)
    return this
  }

  *#next(): Steps<Document | null> {
    if (this.closed) return null
    this.#documents ??= this.#run(this.#options, this.#within)
    for (let step = this.#documents.next(); !step.done; step = this.#documents.next()) {
      if (step.value) return step.value
      yield
    }
    return null
  }

  *#rest(): Steps<Document[]> {
    const documents = this.#peeked ? [this.#peeked] : []
    this.#peeked = undefined
    for (let document = yield* this.#next(); document; document = yield* this.#next()) {
      documents.push(document)
      yield
    }
    return documents
  }
}

interface Tree {
  [field: string]: Tree | true
}
type Projection = (document: Fields) => Fields

export function parseProjection(given: unknown): Projection {
  const entries = Object.entries(given ?? {})
  const wanted = entries.map(([name, value]) => ({ name, path: parsePath(name), keep: parseFlag(name, value) }))
  const first = wanted.find(({ name }) => name !== '_id') ?? wanted[0]
  if (!first) return (document) => document
  const tree = branchOf()
  for (const { name, path, keep } of wanted) {
    if (name === '_id') continue
    if (keep !== first.keep) {
      const [code, kind, other] = keep ? [31253, 'inclusion', 'exclusion'] : [31254, 'exclusion', 'inclusion']
      throw serverError(code, `Cannot do ${kind} on field ${name} in ${other} projection`)
    }
    plant(tree, path, name)
  }
  const id = wanted.find(({ name }) => name === '_id')?.keep ?? true
  if (id === first.keep) tree._id = true
  return first.keep ? (document) => include(document, tree) : (document) => exclude(document, tree)
}

/** Without the names that every object answers to. */
const branchOf = (): Tree => Object.create(null)

function parseFlag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean' || typeof value === 'number') return Boolean(value)
  return refuse(`the projection of ${name} by anything but 0 and 1`)
}

function plant(tree: Tree, path: string[], name: string): void {
  let branch = tree
  for (const [depth, field] of path.entries()) {
    const below = branch[field]
    const last = depth === path.length - 1
    if (below === true || (last && below)) throw serverError(31249, `Path collision at ${name}`)
    if (last) branch[field] = true
    else branch = branch[field] = below ?? branchOf()
  }
}

function include(fields: Fields, tree: Tree): Fields {
  const kept: Fields = {}
  for (const [name, value] of Object.entries(fields)) {
    const below = tree[name]
    if (below === true) kept[name] = value
    else if (isFields(value) && below) kept[name] = include(value, below)
    else if (Array.isArray(value) && below) kept[name] = includeItems(value, below)
  }
  return kept
}

function includeItems(items: Value[], tree: Tree): Value[] {
  return items.flatMap((item) => {
    if (Array.isArray(item)) return [includeItems(item, tree)]
    return isFields(item) ? [include(item, tree)] : []
  })
}

function exclude(fields: Fields, tree: Tree): Fields {
  const kept: Fields = {}
  for (const [name, value] of Object.entries(fields)) {
    const below = tree[name]
    if (below !== true) kept[name] = below ? excludeWithin(value, below) : value
  }
  return kept
}

function excludeWithin(value: Value, tree: Tree): Value {
  if (Array.isArray(value)) return value.map((item) => excludeWithin(item, tree))
  return isFields(value) ? exclude(value, tree) : value
}

/** Items that are sorted at once, in about a millisecond. */
const RUN = 1000

interface Keyed<T> {
  each: T
  key: Buffer
}

/** As MongoDB sorts: an array counts as its least item upwards and its greatest downwards. At most so many are wanted. */
export function* sorted<T extends { document: Document }>(
  found: Iterable<T | undefined>,
  sort: Sort,
  most: number,
): Generator<T | undefined, undefined> {
  const index = openIndex({ tree: 0, name: 'sort', key: sort })
  const runs: Keyed<T>[][] = []
  let run: Keyed<T>[] = []
  const endRun = () => {
    run.sort((one, other) => Buffer.compare(one.key, other.key))
    runs.push(run.slice(0, most))
    run = []
  }
  for (const each of found) {
    if (each) run.push({ each, key: sortKey(index, each.document) })
    if (run.length === RUN) endRun()
    yield
  }
  if (run.length > 0) endRun()
  yield* merge(runs)
}

/** Equal items come in the order of their runs. */
function* merge<T>(runs: readonly Keyed<T>[][]): Generator<T, undefined> {
  const heap: { run: Iterator<Keyed<T>>; at: number; head: Keyed<T> }[] = []
  const isBefore = (one: number, other: number): boolean => {
    const [left, right] = [heap[one], heap[other]]
    if (!left || !right) return left !== undefined
    return (Buffer.compare(left.head.key, right.head.key) || left.at - right.at) < 0
  }
  const sink = (from: number): void => {
    const [left, right] = [2 * from + 1, 2 * from + 2]
    const least = isBefore(right, left) ? right : left
    const [upper, lower] = [heap[from], heap[least]]
    if (!upper || !lower || !isBefore(least, from)) return
    heap[from] = lower
    heap[least] = upper
    sink(least)
  }
  for (const [at, items] of runs.entries()) {
    const run = items[Symbol.iterator]()
    const head = run.next()
    if (!head.done) heap.push({ run, at, head: head.value })
  }
  for (let at = heap.length - 1; at >= 0; at--) sink(at)
  for (let top = heap[0]; top; top = heap[0]) {
    yield top.head.each
    const next = top.run.next()
    const last = next.done ? heap.pop() : undefined
    if (!next.done) top.head = next.value
    else if (last && heap.length > 0) heap[0] = last
    sink(0)
  }
}
