import type { Steps } from './commits.ts'
import { refuse } from './errors.ts'
import type { Reading, Storage } from './storage.ts'
import type { Document } from './values.ts'

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
