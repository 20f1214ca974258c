import { refuse } from './errors.ts'
import type { Document } from './values.ts'

export interface FindOptions {
  sort?: unknown
  skip?: number
  limit?: number
  projection?: unknown
}

/** The driver's cursor: reads begin with the first document asked for. */
export class Cursor {
  readonly #run: (options: FindOptions) => Iterator<Document>
  readonly #options: FindOptions
  #documents: Iterator<Document> | undefined
  #peeked: IteratorResult<Document> | undefined
  closed = false

  constructor(run: (options: FindOptions) => Iterator<Document>, options: FindOptions) {
    this.#run = run
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
    this.#peeked ??= this.#step()
    return !this.#peeked.done
  }

  async next(): Promise<Document | null> {
    const step = this.#peeked ?? this.#step()
    this.#peeked = undefined
    return step.done ? null : step.value
  }

  async toArray(): Promise<Document[]> {
    const documents: Document[] = []
    for (let step = this.#peeked ?? this.#step(); !step.done; step = this.#step()) documents.push(step.value)
    this.#peeked = undefined
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

  #step(): IteratorResult<Document> {
    if (this.closed) return { done: true, value: undefined }
    this.#documents ??= this.#run(this.#options)
    return this.#documents.next()
  }
}
