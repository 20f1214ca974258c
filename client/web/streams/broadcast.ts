import { observable } from '#client/sdk/observable'
import { backoff, pauseFor } from '#client/sdk/timing'
import { streamTexts as t } from '../texts/streams.ts'
import { NoMediaPath, OfferRefused } from './peer.ts'
import { openTestPicture } from './test-picture.ts'
import { publish } from './whip.ts'

export type Source = 'camera' | 'screen' | 'test'

export interface BroadcastState {
  source: Source | null
  media: MediaStream | null
  /** `away`: it was on, or could not be, and is tried again. */
  phase: 'off' | 'connecting' | 'on' | 'away'
  problem: string | null
}

const off: BroadcastState = { source: null, media: null, phase: 'off', problem: null }
const asked = { width: { ideal: 1080 }, height: { ideal: 1920 }, frameRate: { ideal: 30 } }

/** What this page publishes to a stream; it goes on while other parts of the page are shown. */
export class Broadcast {
  readonly #state = observable(off)
  #gone = new AbortController()
  #closeSource = () => {}

  get state(): BroadcastState {
    return this.#state.value
  }
  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  /** Opens a source, to be seen before it is published. */
  async open(source: Source): Promise<void> {
    this.stop()
    const { media, close } = await opened(source)
    this.#closeSource = close
    this.#change({ source, media })
    media.getVideoTracks()[0]?.addEventListener('ended', () => this.state.media === media && this.stop())
  }

  /** Publishes what is open until it is stopped, and again whenever the connection is lost. */
  async publish(url: string): Promise<void> {
    const { media } = this.state
    if (!media || this.state.phase !== 'off') return
    const { signal } = this.#gone
    for (let failures = 0; !signal.aborted; failures++) {
      this.#change({ phase: failures === 0 ? 'connecting' : 'away' })
      try {
        const published = await publish(url, media, signal)
        this.#change({ phase: 'on', problem: null })
        failures = 0
        await Promise.race([published.ended, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        published.close()
        if (signal.aborted) return
        this.#change({ phase: 'away', problem: t.trouble.lost })
      } catch (error) {
        if (signal.aborted) return
        const isFinal = error instanceof OfferRefused && error.status < 500
        this.#change({ phase: isFinal ? 'off' : 'away', problem: problemOf(error) })
        if (isFinal) return
      }
      await pauseFor(backoff(failures, 1_000), signal)
    }
  }

  /** Ends publishing, and gives the camera back. */
  readonly stop = (): void => {
    this.#gone.abort()
    this.#gone = new AbortController()
    this.#closeSource()
    this.#closeSource = () => {}
    for (const track of this.state.media?.getTracks() ?? []) track.stop()
    this.#state.set(off)
  }

  #change(part: Partial<BroadcastState>): void {
    this.#state.set({ ...this.state, ...part })
  }
}

async function opened(source: Source): Promise<{ media: MediaStream; close(): void }> {
  if (source === 'test') return openTestPicture()
  const { mediaDevices } = navigator
  if (!mediaDevices) throw new Error(t.trouble.insecure)
  try {
    const media =
      source === 'camera'
        ? await mediaDevices.getUserMedia({ video: { ...asked, facingMode: 'user' }, audio: true })
        : await mediaDevices.getDisplayMedia({ video: { frameRate: { ideal: 30 } }, audio: true })
    return { media, close: () => {} }
  } catch (cause) {
    throw new Error(mediaProblem(cause), { cause })
  }
}

function mediaProblem(cause: unknown): string {
  const name = cause instanceof Error ? cause.name : ''
  if (name === 'NotAllowedError' || name === 'NotFoundError' || name === 'NotReadableError') return t.trouble[name]
  return t.trouble.failed
}

function problemOf(error: unknown): string {
  if (error instanceof NoMediaPath) return t.trouble.noPath
  if (error instanceof OfferRefused && error.status === 406) return t.trouble.noCodec
  if (error instanceof OfferRefused && [401, 403, 404, 410].includes(error.status)) return t.trouble.refused
  return t.trouble.unreachable
}

const broadcasts = new Map<string, Broadcast>()

/** The broadcast of this page to a stream. */
export function broadcastTo(id: string): Broadcast {
  const broadcast = broadcasts.get(id) ?? new Broadcast()
  broadcasts.set(id, broadcast)
  return broadcast
}
