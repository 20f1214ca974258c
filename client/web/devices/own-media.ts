import { useEffect, useState, useSyncExternalStore } from 'react'
import { observable } from '#client/sdk/observable'
import { deviceTexts as t } from '../texts/devices.ts'

/** As browsers name the kinds of devices. */
export type DeviceKind = 'audioinput' | 'videoinput' | 'audiooutput'

/** The ids of the chosen devices, and whether the camera was off at last. */
interface DeviceChoice extends Partial<Record<DeviceKind, string>> {
  isCameraOff?: boolean
}

const key = 'plaza.devices'

function keptChoice(): DeviceChoice {
  try {
    return { ...(JSON.parse(localStorage.getItem(key) ?? '{}') as DeviceChoice) }
  } catch {
    return {}
  }
}

const choice = observable<DeviceChoice>(keptChoice())
const subscribe = (listener: () => void) => choice.subscribe(listener)

/** What this browser remembers of devices. */
const deviceChoice = (): DeviceChoice => choice.value
export const useDeviceChoice = (): DeviceChoice => useSyncExternalStore(subscribe, deviceChoice)

export function chooseDevices(part: DeviceChoice): void {
  choice.set({ ...choice.value, ...part })
  localStorage.setItem(key, JSON.stringify(choice.value))
}

/** The devices of this machine, as they are plugged in and out. Before the page may use one they have no names, so it looks again as the own tracks change. */
export function useDevices({
  audio,
  video,
}: {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
}): readonly MediaDeviceInfo[] {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new track is a reason to look
  useEffect(() => {
    const { mediaDevices } = navigator
    if (!mediaDevices) return
    const look = () => void mediaDevices.enumerateDevices().then(setDevices, () => {})
    look()
    mediaDevices.addEventListener('devicechange', look)
    return () => mediaDevices.removeEventListener('devicechange', look)
  }, [audio, video])
  return devices
}

/** Whether this browser lets a page choose its speaker. */
export const canChooseSpeaker = (): boolean => 'setSinkId' in HTMLMediaElement.prototype

/** The id of the speaker, empty for the standard one, and what is said where the chosen one is unplugged. */
export function speakerOf({ audiooutput: id }: DeviceChoice, devices: readonly MediaDeviceInfo[]) {
  const speakers = devices.filter(({ kind, deviceId }) => kind === 'audiooutput' && deviceId !== '')
  if (!id || speakers.length === 0 || !canChooseSpeaker()) return { speaker: '', notice: null }
  const isThere = speakers.some(({ deviceId }) => deviceId === id)
  return isThere ? { speaker: id, notice: null } : { speaker: '', notice: t.speakerGone }
}

export type Kind = 'audio' | 'video'

export interface OwnTracks {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
  /** It is shown in the place of the camera. */
  screen: MediaStreamTrack | null
  /** What the shared screen plays, where it was asked for. */
  screenSound: MediaStreamTrack | null
  problem: string | null
  /** What happened to a device without the person. */
  notice: string | null
}

const inputOf = { audio: 'audioinput', video: 'videoinput' } as const
const kinds: readonly Kind[] = ['audio', 'video']
const none: OwnTracks = { audio: null, video: null, screen: null, screenSound: null, problem: null, notice: null }
const sound = { echoCancellation: true, noiseSuppression: true }
const small: MediaTrackConstraints = { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 24 } }

/** The microphone, the camera and the screen of this page: each is taken while it is on, and given back when it is off. */
export class OwnMedia {
  readonly #state = observable<OwnTracks>(none)
  readonly #picture: MediaTrackConstraints
  #isClosed = false

  constructor(picture: MediaTrackConstraints = small) {
    this.#picture = picture
  }

  get state(): OwnTracks {
    return this.#state.value
  }
  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  /** What of them there is. Without the camera, the browser does not ask for it. */
  async open(hasCamera = !deviceChoice().isCameraOff): Promise<void> {
    this.#isClosed = false
    const wanted = hasCamera ? kinds : kinds.slice(0, 1)
    await this.#take(...wanted).catch(async (cause) => {
      if (wanted.length === 1) return this.#fail(cause)
      for (const kind of wanted) await this.#take(kind).catch(this.#fail)
    })
  }

  readonly turn = async (kind: Kind, isOn: boolean): Promise<void> => {
    if (kind === 'video') chooseDevices({ isCameraOff: !isOn })
    this.#change({ notice: null })
    if (isOn) return this.#take(kind).catch(this.#fail)
    this.#drop(kind)
  }

  /** Remembers a device, and takes it at once if its kind is on. */
  readonly choose = async (kind: Kind, device: string): Promise<void> => {
    chooseDevices(kind === 'audio' ? { audioinput: device } : { videoinput: device })
    this.#change({ notice: null })
    if (this.state[kind]) await this.#take(kind).catch(this.#fail)
  }

  readonly share = async (hasSound = false): Promise<void> => {
    try {
      const { frameRate = 30 } = this.#picture
      const media = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate }, audio: hasSound })
      const [screen] = media.getVideoTracks()
      const [screenSound = null] = media.getAudioTracks()
      if (!screen) return
      if (this.#isClosed) return void media.getTracks().map((track) => track.stop())
      this.unshare()
      // In a meeting a screen is read; a stream may show a game.
      if (!hasSound) screen.contentHint = 'detail'
      // The bar of the browser stops it as well.
      screen.addEventListener('ended', () => this.state.screen === screen && this.unshare())
      this.#change({ screen, screenSound, problem: null })
    } catch (cause) {
      // Who closes the browser's choice does not want to share.
      if (!(cause instanceof Error && cause.name === 'NotAllowedError')) this.#fail(cause)
    }
  }

  readonly unshare = (): void => {
    this.#drop('screen')
    this.#drop('screenSound')
  }

  muteByHost(): void {
    if (this.state.audio === null) return
    this.#drop('audio')
    this.#change({ notice: t.mutedByHost })
  }

  close(): void {
    this.#isClosed = true
    for (const kind of kinds) this.#drop(kind)
    this.unshare()
  }

  #drop(kind: Kind | 'screen' | 'screenSound'): void {
    this.state[kind]?.stop()
    if (this.state[kind]) this.#state.set({ ...this.state, [kind]: null })
  }

  async #take(...wanted: readonly Kind[]): Promise<void> {
    const { mediaDevices } = navigator
    if (!mediaDevices) throw new Error(t.problems.insecure)
    const asked = Object.fromEntries(wanted.map((kind) => [kind, this.#asked(kind)]))
    const tracks = (await mediaDevices.getUserMedia(asked)).getTracks()
    for (const track of tracks) {
      const kind = track.kind as Kind
      if (this.#isClosed) track.stop()
      else {
        this.state[kind]?.stop()
        track.addEventListener('ended', () => this.state[kind] === track && void this.#lose(kind))
        this.#state.set({ ...this.state, [kind]: track, problem: null })
      }
    }
  }

  /** A chosen device that is not there is no reason for none. */
  #asked(kind: Kind): MediaTrackConstraints {
    const id = deviceChoice()[inputOf[kind]]
    return { ...(kind === 'audio' ? sound : this.#picture), ...(id && { deviceId: { ideal: id } }) }
  }

  /** The device was unplugged: another one takes its place. */
  async #lose(kind: Kind): Promise<void> {
    this.#drop(kind)
    try {
      await this.#take(kind)
      this.#change({ notice: t.replaced[kind]({ name: this.state[kind]?.label ?? '' }) })
    } catch (cause) {
      this.#fail(cause)
    }
  }

  readonly #fail = (cause: unknown): void => this.#change({ problem: problemOf(cause) })

  #change(part: Partial<OwnTracks>): void {
    this.#state.set({ ...this.state, ...part })
  }
}

function problemOf(cause: unknown): string {
  const name = cause instanceof Error ? cause.name : ''
  if (name === 'NotAllowedError') return t.problems.notAllowed
  if (name === 'NotFoundError') return t.problems.notFound
  if (name === 'NotReadableError') return t.problems.inUse
  return cause instanceof Error && cause.message ? cause.message : t.problems.notOpened
}
