/** An event scheduled at a time; without `run` it was cancelled. */
export interface Due {
  at: number
  order: number
  run: (() => void) | null
}

// How often the run yields to the real event loop, so that the test runner stays responsive.
const BREATH = 4_000

/** Virtual time and one seeded random source: the same seed gives the same run. */
export class World {
  now = 0
  /** What has happened so far. */
  steps = 0
  readonly #random: () => number
  readonly #due: Due[] = []
  #order = 0

  constructor(seed: number) {
    this.#random = mulberry32(seed)
  }

  readonly random = (): number => this.#random()
  chance(probability: number): boolean {
    return this.#random() < probability
  }
  between(low: number, high: number): number {
    return low + this.#random() * (high - low)
  }
  within([low, high]: readonly [number, number]): number {
    return this.between(low, high)
  }
  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#random() * choices.length)]
    if (choice === undefined) throw new Error('Nothing to pick from.')
    return choice
  }

  after(milliseconds: number, run: () => void): Due {
    const entry: Due = { at: this.now + Math.max(0, milliseconds), order: this.#order++, run }
    let index = this.#due.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (isBefore(this.#due[parent], entry)) break
      this.#swap(index, parent)
      index = parent
    }
    return entry
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve))
  }

  /** Runs a number of events, or an amount of time; the consequences of each step are complete before the next. */
  async run({ steps = Number.POSITIVE_INFINITY, milliseconds = Number.POSITIVE_INFINITY }): Promise<void> {
    const last = this.steps + steps
    const end = this.now + milliseconds
    for (let next = this.#due[0]; next && next.at <= end && this.steps < last; next = this.#due[0]) {
      this.#removeFirst()
      if (!next.run) continue
      this.now = next.at
      this.steps++
      next.run()
      await (this.steps % BREATH === 0 ? breath() : consequences())
    }
    if (Number.isFinite(end)) this.now = Math.max(this.now, end)
  }

  #removeFirst(): void {
    const last = this.#due.pop()
    if (!last || this.#due.length === 0) return
    this.#due[0] = last
    for (let index = 0; ; ) {
      const left = 2 * index + 1
      const child = isBefore(this.#due[left + 1], this.#due[left]) ? left + 1 : left
      if (!isBefore(this.#due[child], this.#due[index])) break
      this.#swap(index, child)
      index = child
    }
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#due[one], this.#due[other]]
    if (!first || !second) return
    this.#due[one] = second
    this.#due[other] = first
  }
}

// A macrotask runs only after all pending promise callbacks, including those they queue.
const consequences = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function isBefore(one: Due | undefined, other: Due | undefined): boolean {
  if (!one || !other) return one !== undefined
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

function mulberry32(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
