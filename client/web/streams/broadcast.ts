import { observable } from '#client/sdk/observable'
import { backoff, pauseFor } from '#client/sdk/timing'
import { OwnMedia } from '../devices/own-media.ts'
import { deviceTexts } from '../texts/devices.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { gathered, NoMediaPath, OfferRefused, postOffer, untilConnected, untilLost } from './peer.ts'

/** One track of sound, silent where nothing is mixed into it. */
class MixedSound {
  readonly #context = new AudioContext()
  readonly #out = this.#context.createMediaStreamDestination()
  readonly #sources = new Map<MediaStreamTrack, AudioNode>()

  get track(): MediaStreamTrack | null {
    return this.#out.stream.getAudioTracks()[0] ?? null
  }

  /** Mixes these from now on, and no others. */
  mix(tracks: readonly MediaStreamTrack[]): void {
    for (const [track, source] of this.#sources) {
      if (tracks.includes(track)) continue
      source.disconnect()
      this.#sources.delete(track)
    }
    for (const track of tracks) {
      if (this.#sources.has(track)) continue
      const source = this.#context.createMediaStreamSource(new MediaStream([track]))
      source.connect(this.#out)
      this.#sources.set(track, source)
    }
  }

  close(): void {
    void this.#context.close()
  }
}

const perSecond = 5

/** A dark picture of a size, for who turns the camera off: without any picture a stream counts as interrupted. */
function openBlankPicture({ width = 1280, height = 720 }: MediaTrackSettings): {
  track: MediaStreamTrack | null
  close(): void
} {
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width, height })
  const context = canvas.getContext('2d')
  let isEven = false
  // A canvas gives a picture only when it is drawn on.
  const timer = setInterval(() => {
    isEven = !isEven
    if (!context) return
    context.fillStyle = isEven ? '#0b0f0e' : '#0b0f0f'
    context.fillRect(0, 0, width, height)
  }, 1_000 / perSecond)
  const [track = null] = canvas.captureStream(perSecond).getVideoTracks()
  return {
    track,
    close() {
      clearInterval(timer)
      track?.stop()
    },
  }
}

const width = 1080
const height = 1920
const testPicturePerSecond = 30

/** The time in milliseconds, at the places and in the order of the clock that the server makes (`server/media/engine.ts`). */
const bits = { count: 48, inRow: 16, columns: 20, rows: 30, left: 2, top: 17 }

/** Squares that are light or dark, so that a program can read the time off a picture. */
function drawBits(context: CanvasRenderingContext2D, milliseconds: number): void {
  const [wide, high] = [width / bits.columns, height / bits.rows]
  for (const [at, bit] of [...milliseconds.toString(2).padStart(bits.count, '0')].entries()) {
    context.fillStyle = bit === '1' ? '#e9eeeb' : '#101413'
    const [column, row] = [bits.left + (at % bits.inRow), bits.top + Math.floor(at / bits.inRow)]
    context.fillRect(column * wide, row * high, wide, high)
  }
}

/** A clock and a tone, for who has no camera: the time is in the picture, so that the delay of a viewer can be read off. */
function openTestPicture(): { media: MediaStream; close(): void } {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d')
  let frame = 0
  const draw = () => {
    if (!context) return
    frame += 1
    const now = new Date()
    context.fillStyle = '#101413'
    context.fillRect(0, 0, width, height)
    context.fillStyle = '#7fd1bd'
    context.fillRect(0, 300 + ((frame * 8) % 1_300), width, 24)
    context.beginPath()
    context.arc(width / 2, 560, 220, 0, ((now.getMilliseconds() + 1) / 1_000) * 2 * Math.PI)
    context.lineWidth = 28
    context.strokeStyle = '#f0b866'
    context.stroke()
    context.fillStyle = '#e9eeeb'
    context.textAlign = 'center'
    context.font = '600 150px ui-monospace, monospace'
    context.fillText(now.toTimeString().slice(0, 8), width / 2, 940)
    context.font = '400 90px ui-monospace, monospace'
    context.fillText(`.${String(now.getMilliseconds()).padStart(3, '0')}`, width / 2, 1_055)
    drawBits(context, now.getTime())
    context.font = '400 64px system-ui, sans-serif'
    context.fillText(t.trouble.testPicture, width / 2, 1_760)
  }
  draw()
  const timer = setInterval(draw, 1_000 / testPicturePerSecond)
  const picture = canvas.captureStream(testPicturePerSecond)
  const sound = new AudioContext()
  const tone = new OscillatorNode(sound, { frequency: 440 })
  const quiet = new GainNode(sound, { gain: 0.05 })
  const out = sound.createMediaStreamDestination()
  tone.connect(quiet).connect(out)
  tone.start()
  return {
    media: new MediaStream([...picture.getVideoTracks(), ...out.stream.getAudioTracks()]),
    close() {
      clearInterval(timer)
      void sound.close()
    },
  }
}

const connectMilliseconds = 15_000
const mostBitsPerSecond = 4_000_000
const preferred = ['video/H264', 'video/VP9']

interface Published {
  /** Resolves when the connection is lost. */
  ended: Promise<void>
  /** Sends another picture from now on. */
  show(picture: MediaStreamTrack): Promise<void>
  close(): void
}

/** Publishes by WHIP; resolves as soon as media can flow. */
async function publish(url: string, media: MediaStream, signal: AbortSignal): Promise<Published> {
  const peer = new RTCPeerConnection()
  let session: string | null = null
  const close = () => {
    peer.close()
    if (session) void fetch(session, { method: 'DELETE', keepalive: true }).catch(() => {})
  }
  try {
    for (const track of media.getTracks()) {
      const isVideo = track.kind === 'video'
      const transceiver = peer.addTransceiver(track, {
        direction: 'sendonly',
        streams: [media],
        ...(isVideo ? { sendEncodings: [{ maxBitrate: mostBitsPerSecond, maxFramerate: 30 }] } : {}),
      })
      if (isVideo) preferCodecs(transceiver)
    }
    await peer.setLocalDescription()
    for (const sender of peer.getSenders()) if (sender.track?.kind === 'video') await keepSize(sender)
    await gathered(peer)
    const answer = await postOffer(url, peer, signal)
    session = answer.session
    await peer.setRemoteDescription({ type: 'answer', sdp: answer.sdp })
    await untilConnected(peer, connectMilliseconds, signal)
  } catch (error) {
    close()
    throw error
  }
  const show = async (picture: MediaStreamTrack) => {
    for (const sender of peer.getSenders()) if (sender.track?.kind === 'video') await sender.replaceTrack(picture)
  }
  return { ended: untilLost(peer), show, close }
}

/** Viewers by HLS want H264; VP9 where a browser has none. */
function preferCodecs(transceiver: RTCRtpTransceiver): void {
  const all = RTCRtpReceiver.getCapabilities('video')?.codecs ?? []
  const rank = ({ mimeType }: { mimeType: string }) =>
    (preferred.indexOf(mimeType) + preferred.length + 1) % (preferred.length + 1)
  transceiver.setCodecPreferences([...all].sort((a, b) => rank(a) - rank(b)))
}

/** Fewer pictures are better than smaller ones: each change of size interrupts who watches. */
async function keepSize(sender: RTCRtpSender): Promise<void> {
  const parameters = { ...sender.getParameters(), degradationPreference: 'maintain-resolution' as const }
  await sender.setParameters(parameters).catch(() => {})
}

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
