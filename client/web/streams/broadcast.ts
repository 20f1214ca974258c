import { observable } from '#client/sdk/observable'
import { backoff, pauseFor } from '#client/sdk/timing'
import { MixedSound } from '../devices/mixed-sound.ts'
import { OwnMedia } from '../devices/own-media.ts'
import { deviceTexts } from '../texts/devices.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { openBlankPicture } from './blank-picture.ts'
import { NoMediaPath, OfferRefused } from './peer.ts'
import { openTestPicture } from './test-picture.ts'
import { type Published, publish } from './whip.ts'

export type Source = 'camera' | 'screen' | 'test'

export interface BroadcastState {
  source: Source | null
  media: MediaStream | null
  /** `away`: it was on, or could not be, and is tried again. */
  phase: 'off' | 'connecting' | 'on' | 'away'
  problem: string | null
}

const off: BroadcastState = { source: null, media: null, phase: 'off', problem: null }
const [long, short] = [{ ideal: 1_920 }, { ideal: 1_080 }]
/** Upright on a phone, and wide on a desk. */
const asked = (): MediaTrackConstraints => {
  const isTall = innerHeight > innerWidth
  return { width: isTall ? short : long, height: isTall ? long : short, frameRate: { ideal: 30 }, facingMode: 'user' }
}

/** What this page publishes to a stream; it goes on while other parts of the page are shown. */
export class Broadcast {
  readonly own = new OwnMedia(asked())
  readonly #state = observable(off)
  #gone = new AbortController()
  #closeSource = () => {}
  #published: Published | null = null

  get state(): BroadcastState {
    return this.#state.value
  }
  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  /** Opens a source, to be seen before it is published. */
  async open(source: Source): Promise<void> {
    this.stop()
    if (source === 'test') {
      const { media, close } = openTestPicture()
      this.#closeSource = close
      return this.#change({ source, media })
    }
    const { own } = this
    await (source === 'camera' ? own.open(true) : Promise.all([own.open(false), own.share(true)]))
    const { screen, video, problem } = own.state
    if (screen ?? video) return this.#follow(source)
    own.close()
    if (problem) throw new Error(problem === deviceTexts.problems.notFound ? t.trouble.noCamera : problem)
  }

  /** Shows and publishes what is on, as it is turned on and off. */
  #follow(source: Source): void {
    const { own } = this
    const sound = new MixedSound()
    const size = (own.state.screen ?? own.state.video)?.getSettings() ?? {}
    let blank: ReturnType<typeof openBlankPicture> | null = null
    let shown: MediaStreamTrack | null = null
    const look = () => {
      const { audio, video, screen, screenSound } = own.state
      sound.mix([audio, screenSound].filter((track) => track !== null))
      const on = screen ?? video
      if (on) {
        blank?.close()
        blank = null
      } else blank ??= openBlankPicture(size)
      const picture = on ?? blank?.track ?? null
      if (picture === shown || picture === null) return
      shown = picture
      void this.#published?.show(picture).catch(() => {})
      this.#change({ source, media: new MediaStream([picture, ...(sound.track ? [sound.track] : [])]) })
    }
    const unsubscribe = own.subscribe(look)
    this.#closeSource = () => {
      unsubscribe()
      own.close()
      blank?.close()
      sound.close()
    }
    look()
  }

  /** Publishes what is open until it is stopped, and again whenever the connection is lost. */
  async publish(url: string): Promise<void> {
    if (!this.state.media || this.state.phase !== 'off') return
    const { signal } = this.#gone
    for (let failures = 0; !signal.aborted; failures++) {
      this.#change({ phase: failures === 0 ? 'connecting' : 'away' })
      try {
        const { media } = this.state
        if (!media) return
        const published = await publish(url, media, signal)
        this.#published = published
        await this.#showLatest(media)
        this.#change({ phase: 'on', problem: null })
        failures = 0
        await Promise.race([published.ended, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        this.#published = null
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

  /** What was turned on or off while it connected. */
  async #showLatest(media: MediaStream): Promise<void> {
    const [picture] = this.state.media?.getVideoTracks() ?? []
    if (this.state.media !== media && picture) await this.#published?.show(picture)
  }

  #change(part: Partial<BroadcastState>): void {
    this.#state.set({ ...this.state, ...part })
  }
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
