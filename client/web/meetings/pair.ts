import { gathered } from '../streams/peer.ts'

/** What somebody sends at the moment, and whether their hand is raised. The video of who shares a screen is the screen. */
export interface Sends {
  audio: boolean
  video: boolean
  screen: boolean
  hand: boolean
}
/** What this page sends. */
export interface Sent {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
  isScreen: boolean
  isHandRaised: boolean
}
export interface Signal {
  type: 'offer' | 'answer'
  sdp: string
}

interface Told {
  /** `there`: pictures and sound come through. */
  state(state: 'connecting' | 'there' | 'lost'): void
  media(media: MediaStream): void
  sends(sends: Sends): void
  /** They ask for a muted microphone, which only a host may. */
  mute(): void
}

/** The connection between this page and one other person of a meeting. */
export class Pair {
  readonly #peer: RTCPeerConnection
  readonly #words: RTCDataChannel
  readonly #media = new MediaStream()
  #own: Sent

  constructor(iceServers: RTCIceServer[], own: Sent, told: Told) {
    this.#own = own
    const peer = new RTCPeerConnection({ iceServers })
    this.#peer = peer
    this.#words = peer.createDataChannel('sends', { negotiated: true, id: 0 })
    this.#words.addEventListener('open', () => this.#say())
    this.#words.addEventListener('message', ({ data }) => {
      const words = readWords(data)
      if (words) told.sends(words.sends)
      if (words?.mute) told.mute()
    })
    peer.addEventListener('track', ({ track }) => {
      this.#media.addTrack(track)
      told.media(this.#media)
    })
    peer.addEventListener('connectionstatechange', () => {
      const { connectionState: state } = peer
      if (state === 'connected') told.state('there')
      if (state === 'disconnected') told.state('connecting')
      if (state === 'failed') told.state('lost')
    })
  }

  async offer(): Promise<Signal> {
    for (const kind of ['audio', 'video'] as const)
      this.#peer.addTransceiver(this.#own[kind] ?? kind, { direction: 'sendrecv' })
    await this.#peer.setLocalDescription(await this.#peer.createOffer())
    return this.#described('offer')
  }

  async answer({ sdp }: Signal): Promise<Signal> {
    await this.#peer.setRemoteDescription({ type: 'offer', sdp })
    for (const transceiver of this.#peer.getTransceivers()) transceiver.direction = 'sendrecv'
    await this.#send()
    await this.#peer.setLocalDescription(await this.#peer.createAnswer())
    return this.#described('answer')
  }

  async answered({ sdp }: Signal): Promise<void> {
    if (this.#peer.signalingState === 'have-local-offer') await this.#peer.setRemoteDescription({ type: 'answer', sdp })
  }

  /** Sends what is on from now on. */
  async show(own: Sent): Promise<void> {
    this.#own = own
    await this.#send()
    this.#say()
  }

  /** Asks the other to mute their microphone. */
  mute(): void {
    this.#say({ mute: true })
  }

  close(): void {
    this.#peer.close()
  }

  async #send(): Promise<void> {
    for (const { sender, receiver } of this.#peer.getTransceivers())
      await sender.replaceTrack(this.#own[receiver.track.kind as 'audio' | 'video'])
  }

  #say(more: { mute?: true } = {}): void {
    const { audio, video, isScreen, isHandRaised } = this.#own
    const sends: Sends = { audio: audio !== null, video: video !== null, screen: isScreen, hand: isHandRaised }
    if (this.#words.readyState === 'open') this.#words.send(JSON.stringify({ ...sends, ...more }))
  }

  /** With all ways to reach this machine in it. */
  async #described(type: Signal['type']): Promise<Signal> {
    await gathered(this.#peer)
    return { type, sdp: this.#peer.localDescription?.sdp ?? '' }
  }
}

/** Null where another page says what this one does not know. */
function readWords(data: unknown): { sends: Sends; mute: boolean } | null {
  try {
    const { audio, video, screen, hand, mute } = JSON.parse(String(data)) as Partial<Record<string, unknown>>
    const sends = { audio: audio === true, video: video === true, screen: screen === true, hand: hand === true }
    return { sends, mute: mute === true }
  } catch {
    return null
  }
}
