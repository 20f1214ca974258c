import type { RunFrame } from '#shared/api/agents/run-frames'
import { AppError } from '#shared/errors'
import { asAppError, isPassing } from './failures.ts'
import { observable } from './observable.ts'
import { applyFrames, isOver, type RunState } from './run-state.ts'
import { backoff, pauseFor } from './timing.ts'
import type { Client, ConnectionState, Listener, Unsubscribe } from './types.ts'

/** An answer of an agent. It goes on at the server whether or not anybody follows it. */
export interface LiveRun {
  /** The key of the question: the same key is never answered twice. */
  readonly key: string
  readonly agentId: string
  /** Its conversation. */
  readonly session: string
  /** The first of the questions that it replaces. */
  readonly replaces: string | undefined
  readonly state: RunState
  /** Together with `state`, usable with `useSyncExternalStore`. */
  subscribe(listener: Listener): Unsubscribe
  /** Stops the answer, also one that is not accepted yet; what was written of it stays. Rejects where no server could be reached, and is repeated when one can. */
  cancel(): Promise<void>
  /** Stops following it; it goes on at the server. */
  close(): void
}

/** The place of a question in what is said to an agent. */
export interface RunPlace {
  /** Its conversation; a new name begins one. */
  session: string
  /** The run of an earlier question, which it replaces with all behind it. */
  replaces?: string | undefined
}

interface RunOptions extends RunPlace {
  client: Client
  agentId: string
  key: string
  state: RunState
  closed(run: OpenRun): void
  cancelled(run: OpenRun): void
}

/** Nothing is heard for so long only where something was lost: the server tells at least its state every 10 seconds. */
const silenceMilliseconds = 15_000

/** Follows one answer: applies each of its frames once and in order, also when some are lost or repeated in transit. */
export class OpenRun implements LiveRun {
  readonly key: string
  readonly agentId: string
  readonly session: string
  readonly replaces: string | undefined
  readonly #options: RunOptions
  readonly #state
  readonly #held = new Map<number, RunFrame>()
  readonly #gone = new AbortController()
  #source: ConnectionState = 'connecting'
  #turn = new AbortController()
  #isResuming = false
  #isUnwanted = false
  #silence: ReturnType<typeof setTimeout> | undefined

  constructor(options: RunOptions) {
    this.#options = options
    this.key = options.key
    this.agentId = options.agentId
    this.session = options.session
    this.replaces = options.replaces
    this.#state = observable(options.state)
  }

  get state(): RunState {
    return this.#state.value
  }
  get isClosed(): boolean {
    return this.#gone.signal.aborted
  }
  subscribe(listener: () => void): () => void {
    return this.#state.subscribe(listener)
  }

  async cancel(): Promise<void> {
    const { runId } = this.state
    this.#isUnwanted = true
    this.#options.cancelled(this)
    if (runId !== null) await this.#options.client.agents.cancel({ run_id: runId })
  }

  close(): void {
    this.#gone.abort()
    this.#end()
  }

  /** Waits, at most until it is closed. */
  pause(milliseconds: number): Promise<void> {
    return pauseFor(milliseconds, this.#gone.signal)
  }

  /** The question began this run; its frames arrive on this connection. */
  accepted(runId: string): void {
    if (this.isClosed || this.state.runId !== null) return
    this.#change({ ...this.state, runId, status: 'running' })
    if (this.#source === 'online') this.#listen()
    else this.#restart()
    if (this.#isUnwanted) void this.cancel().catch(() => undefined)
  }

  refused({ code, message: text, retryAfter }: AppError): void {
    const error = { code, text, ...(retryAfter === undefined ? {} : { retryAfter }) }
    this.#change({ ...this.state, status: this.state.runId === null ? 'refused' : 'failed', phase: null, error })
    this.#end()
  }

  /** Continues after the last applied frame, by the way in which the server can be reached now. */
  follow(source: ConnectionState): void {
    if (source === this.#source || isOver(this.state)) return
    this.#source = source
    this.#change({ ...this.state, isCutOff: source !== 'online' && source !== 'rest' })
    this.#restart()
    if (this.#isUnwanted && !this.state.isCutOff) void this.cancel().catch(() => undefined)
  }

  /** Takes frames; they may be repeated, and some may be missing. */
  deliver(frames: readonly RunFrame[]): void {
    if (this.isClosed || frames.length === 0) return
    for (const frame of frames) if (frame.idx > this.state.idx) this.#held.set(frame.idx, frame)
    this.#drain()
    if (isOver(this.state)) this.#end()
    else {
      this.#listen()
      if (this.#held.size > 0) void this.#resume()
    }
  }

  #drain(): void {
    const next: RunFrame[] = []
    for (let idx = this.state.idx + 1; this.#held.has(idx); idx++) {
      next.push(this.#held.get(idx) as RunFrame)
      this.#held.delete(idx)
    }
    for (const idx of this.#held.keys()) if (idx <= this.state.idx) this.#held.delete(idx)
    if (next.length > 0) this.#change(applyFrames(this.state, next))
  }

  #change(state: RunState): void {
    if (!this.isClosed) this.#state.set(state)
  }

  #end(): void {
    this.#halt()
    this.#options.closed(this)
  }

  #halt(): void {
    this.#turn.abort()
    this.#isResuming = false
    clearTimeout(this.#silence)
    this.#held.clear()
  }

  #restart(): void {
    this.#halt()
    this.#turn = new AbortController()
    if (this.isClosed || this.state.runId === null || isOver(this.state)) return
    if (this.#source === 'online') void this.#resume()
    if (this.#source === 'rest') void this.#read(this.#turn.signal)
  }

  #listen(): void {
    clearTimeout(this.#silence)
    if (this.#source !== 'online') return
    this.#silence = setTimeout(() => void this.#resume(), silenceMilliseconds)
  }

  /** Asks for what follows the last applied frame, one request at a time. */
  async #resume(): Promise<void> {
    const run_id = this.state.runId
    if (run_id === null || this.#isResuming || this.#source !== 'online') return
    this.#isResuming = true
    const { signal } = this.#turn
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const { frames, state, complete } = await this.#options.client.agents.resume({
          run_id,
          after_idx: this.state.idx,
        })
        if (signal.aborted) return
        this.#isResuming = false
        this.#listen()
        this.deliver(frames)
        if (complete && state !== 'running') this.#endForgotten()
        return
      } catch (error) {
        if (await this.#isRefused(error, failures, signal)) return
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const id = this.state.runId ?? ''
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const frames = this.#options.client.agents.frames({ id, after_idx: this.state.idx }, { signal })
        for await (const frame of frames) {
          if (signal.aborted) return
          failures = 0
          this.deliver([frame])
        }
        return this.#endForgotten()
      } catch (error) {
        if (await this.#isRefused(error, failures, signal)) return
      }
      await pauseFor(backoff(failures, 100), signal)
    }
  }

  /** The answer has ended, and the server has no more frames of it: where its end is not among them, they are kept no longer. */
  #endForgotten(): void {
    if (!isOver(this.state)) this.refused(new AppError('RUN_NOT_FOUND'))
  }

  /** Waits before the next try; true if there is to be none. */
  async #isRefused(error: unknown, failures: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return true
    const refusal = asAppError(error)
    if (!isPassing(refusal)) {
      this.refused(refusal)
      return true
    }
    await pauseFor((refusal.retryAfter ?? 0) * 1_000 + backoff(failures), signal)
    return signal.aborted
  }
}
