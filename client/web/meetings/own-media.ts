import { observable } from '#client/sdk/observable'
import { meetingTexts as t } from '../texts/meetings.ts'

export type Kind = 'audio' | 'video'

export interface OwnTracks {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
  problem: string | null
}

const wanted = {
  audio: { echoCancellation: true, noiseSuppression: true },
  video: { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 24 } },
}

/** The microphone and the camera of this page: each is taken while it is on, and given back when it is off. */
export class OwnMedia {
  readonly #state = observable<OwnTracks>({ audio: null, video: null, problem: null })
  #isClosed = false

  get state(): OwnTracks {
    return this.#state.value
  }
  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  /** Both, or what of them there is. */
  async open(): Promise<void> {
    this.#isClosed = false
    await this.#take('audio', 'video').catch(async () => {
      for (const kind of ['audio', 'video'] as const) await this.#take(kind).catch(this.#fail)
    })
  }

  readonly turn = async (kind: Kind, isOn: boolean): Promise<void> => {
    if (isOn) return this.#take(kind).catch(this.#fail)
    this.state[kind]?.stop()
    this.#state.set({ ...this.state, [kind]: null })
  }

  close(): void {
    this.#isClosed = true
    for (const kind of ['audio', 'video'] as const) void this.turn(kind, false)
  }

  async #take(...kinds: Kind[]): Promise<void> {
    const { mediaDevices } = navigator
    if (!mediaDevices) throw new Error(t.devices.insecure)
    const asked = Object.fromEntries(kinds.map((kind) => [kind, wanted[kind]]))
    const tracks = (await mediaDevices.getUserMedia(asked)).getTracks()
    for (const track of tracks) {
      const kind = track.kind as Kind
      if (this.#isClosed) track.stop()
      else {
        this.state[kind]?.stop()
        track.addEventListener('ended', () => this.state[kind] === track && void this.turn(kind, false))
        this.#state.set({ ...this.state, [kind]: track, problem: null })
      }
    }
  }

  readonly #fail = (cause: unknown): void => {
    this.#state.set({ ...this.state, problem: problemOf(cause) })
  }
}

function problemOf(cause: unknown): string {
  const name = cause instanceof Error ? cause.name : ''
  if (name === 'NotAllowedError') return t.devices.notAllowed
  if (name === 'NotFoundError') return t.devices.notFound
  if (name === 'NotReadableError') return t.devices.inUse
  return cause instanceof Error && cause.message ? cause.message : t.devices.notOpened
}
