import { statfsSync } from 'node:fs'
import mongoose from 'mongoose'
import { isServerError } from './errors.ts'
import { LockLost } from './lock.ts'

const FULL_BYTES = 1_048_576

/** lmdb tells a full disk as an error of input and output, so that the disk is asked. */
export function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < FULL_BYTES
  } catch {
    return false
  }
}

export const fullDisk = (what: string, cause?: unknown): Error =>
  Object.assign(new Error(`${what}: the disk is full (ENOSPC)`, { cause }), { code: 'ENOSPC' })

/** Work that pauses where others may take turns, and where its writes are consistent. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Milliseconds of work that one commit takes up. */
const COMMIT_MS = 16

/** What a write does that does nothing but insert. */
export interface Insertion<T> {
  /** What it answers where all of it is inserted. */
  value: T
  /** Takes it into the next batch of the journal. False where it cannot be, or where not all of it can be inserted. */
  stage(): boolean
}

interface Job {
  run: () => Steps<unknown>
  /** Of a write that may be journalled, until that has failed. */
  insertion: Insertion<unknown> | null
  /** Under way, once it has begun. */
  steps: Steps<unknown> | null
  /** In a commit of its own, so that no other is taken back with it. */
  alone: boolean
  outcome: { value: unknown } | { error: unknown } | null
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

interface Ground {
  directory: string
  /** Throws where nothing may be written any more. */
  check(): void
  transact(run: () => void): Promise<unknown>
  /** Writes what was staged to the journal; where that fails, none of it was. */
  append(): Promise<void>
  /** Brings what is in memory back to what is stored. */
  undo(): void
}

/** Writes wait here while a commit is under way and share the next one; long ones go on over several. Insertions may be journalled instead. */
export class Commits {
  readonly #ground: Ground
  readonly #queue: Job[] = []
  #running: Promise<void> | null = null

  constructor(ground: Ground) {
    this.#ground = ground
  }

  /** Resolves once all that was written is on the disk. An error that MongoDB would answer leaves standing what was written before it. */
  write<T>(run: () => Steps<T>, insertion: Insertion<T> | null = null): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run, insertion, steps: null, alone: false, outcome: null, resolve, reject })
      this.#running ??= this.#commitAll()
    })
  }

  async drained(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #commitAll(): Promise<void> {
    while (this.#queue.length > 0) {
      if (await this.#journal()) continue
      const taken: Job[] = []
      try {
        this.#ground.check()
        await this.#ground.transact(() => this.#take(taken))
        this.#checkAfter()
      } catch (error) {
        await this.#takeBack(taken, error)
        continue
      }
      for (const job of taken) if (job.outcome) settle(job)
      this.#queue.push(...taken.filter(({ outcome }) => outcome === null))
    }
    this.#running = null
  }

  /** Those insertions that stand first go into one batch. */
  async #journal(): Promise<boolean> {
    const taken: Job[] = []
    for (let [job] = this.#queue; job && this.#isStaged(job, taken.length === 0); [job] = this.#queue) {
      taken.push(job)
      this.#queue.shift()
    }
    if (taken.length === 0) return false
    try {
      await this.#ground.append()
      this.#checkAfter()
    } catch (error) {
      if (error instanceof LockLost) await this.#takeBack(taken, error)
      else this.#queue.unshift(...taken.map((job) => Object.assign(job, { insertion: null })))
      return true
    }
    for (const { insertion, resolve } of taken) resolve(insertion?.value as never)
    return true
  }

  /** Appends staged work at once. If that is impossible, the commit that it then joins reports the reason. */
  #isStaged({ alone, insertion }: Job, isFirst: boolean): boolean {
    if (alone || !insertion) return false
    try {
      if (isFirst) this.#ground.check()
      return insertion.stage()
    } catch {
      return false
    }
  }

  /** Durable work is never repeated. Only a lost lock revokes it, not a failed check. */
  #checkAfter(): void {
    try {
      this.#ground.check()
    } catch (error) {
      if (error instanceof LockLost) throw error
    }
  }

  #take(taken: Job[]): void {
    const end = performance.now() + COMMIT_MS
    for (let job = this.#queue.shift(); job; job = this.#queue.shift()) {
      taken.push(job)
      advance(job, end)
      if (job.alone || this.#queue[0]?.alone || performance.now() > end) return
    }
  }

  /** Of several, one may be to blame: each is done again by itself. */
  async #takeBack(taken: Job[], error: unknown): Promise<void> {
    if (error instanceof LockLost) {
      for (const job of [...taken, ...this.#queue.splice(0)]) job.reject(error)
      return
    }
    const reason = await reasonOf(error)
    this.#ground.undo()
    if (taken.length > 1) {
      for (const job of taken) Object.assign(job, { steps: null, outcome: null, alone: true })
      this.#queue.unshift(...taken)
      return
    }
    const [job] = taken.length > 0 ? taken : this.#queue.splice(0, 1)
    job?.reject(reason instanceof mongoose.mongo.MongoError ? reason : notStored(this.#ground.directory, reason))
  }
}

/** Any error but one of MongoDB's takes back the commit. */
function advance(job: Job, end: number): void {
  try {
    job.steps ??= job.run()
    for (let step = job.steps.next(); ; step = job.steps.next()) {
      if (step.done) job.outcome = { value: step.value }
      else if (performance.now() < end) continue
      else job.alone = true
      return
    }
  } catch (error) {
    if (!isServerError(error)) throw error
    job.outcome = { error }
  }
}

function settle({ outcome, resolve, reject }: Job): void {
  if (outcome && 'value' in outcome) resolve(outcome.value as never)
  else reject(outcome?.error)
}

/** The reason of a failed commit is in a rejected promise beside the error; unhandled, that would end the process. */
async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return Promise.race([
    Promise.resolve(error.commitError).catch((reason: unknown) => reason),
    new Promise((resolve) => setTimeout(resolve, 100, error)),
  ])
}

function notStored(directory: string, cause: unknown): Error {
  const what = 'The write was not stored'
  return isFull(directory) ? fullDisk(what, cause) : Object.assign(new Error(what, { cause }), { code: 'EIO' })
}
