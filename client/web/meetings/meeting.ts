import { asAppError } from '#client/sdk/failures'
import { type MeetingLine, openMeetingLine } from '#client/sdk/meeting-line'
import { observable } from '#client/sdk/observable'
import { table } from '#client/sdk/table'
import { backoff } from '#client/sdk/timing'
import type { Client } from '#client/sdk/types'
import type { Seated } from '#shared/api/meetings/meetings'
import type { AppError } from '#shared/errors'
import { withoutUndefined } from '#shared/kit/without-undefined'
import type { OwnMedia } from '../devices/own-media.ts'
import { gathered } from '../streams/peer.ts'

/** What somebody sends at the moment, and whether their hand is raised. The video of who shares a screen is the screen. */
interface Sends {
  audio: boolean
  video: boolean
  screen: boolean
  hand: boolean
}
/** What this page sends. */
interface Sent {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
  isScreen: boolean
  isHandRaised: boolean
}
interface Signal {
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
class Pair {
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

export interface Attendee extends Seated {
  state: 'connecting' | 'there' | 'lost'
  media: MediaStream | null
  sends: Sends
}

interface MeetingState {
  /** `away`: the connection to the server is lost, and made again. `waiting`: for the host. */
  phase: 'entering' | 'waiting' | 'in' | 'away' | 'over'
  people: readonly Attendee[]
  /** Whether this page raises its hand; whoever leaves lowers it. */
  isHandRaised: boolean
  /** Why it is over for this page: its host ended it or removed them, it was entered elsewhere, it was left, or it could not be entered. */
  why: 'ended' | 'elsewhere' | 'removed' | 'left' | AppError | null
}

type Entered = Awaited<ReturnType<Client['meetings']['enter']>>

const againMilliseconds = 1_000
const waitingMilliseconds = 3_000
const nothing: Sends = { audio: false, video: false, screen: false, hand: false }

/** A meeting as this page is in it: each two people have a connection of their own, and the server carries their offers. */
export class Meeting {
  readonly own: OwnMedia
  readonly #state = observable<MeetingState>({ phase: 'entering', people: [], isHandRaised: false, why: null })
  readonly #line: MeetingLine
  readonly #token: () => Promise<string>
  readonly #pairs = new Map<string, Pair>()
  readonly #unsubscribe: () => void
  #entered: Entered | null = null
  /** What came before the answer to entering. */
  #early: [from: string, signal: Signal][] = []
  #failures = 0

  constructor({ url, own, token }: { url: string; own: OwnMedia; token: () => Promise<string> }) {
    this.own = own
    this.#token = token
    this.#line = openMeetingLine(url)
    const { events } = table
    this.#line.whenReady(() => void this.#enter())
    this.#line.whenLost(() => this.#lose())
    this.#line.hear(events.meetingEntered, ({ person }) => this.#meet(person))
    this.#line.hear(events.meetingLeft, ({ peer }) => this.#part(peer))
    this.#line.hear(events.meetingSignal, ({ from, signal }) => void this.#take(from, signal))
    this.#line.hear(events.meetingOver, ({ why }) => this.#end(why))
    this.#unsubscribe = own.subscribe(() => this.#show())
  }

  get state(): MeetingState {
    return this.#state.value
  }
  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly leave = (): void => this.#end('left')

  readonly raiseHand = (isHandRaised: boolean): void => {
    this.#change({ isHandRaised })
    this.#show()
  }

  /** Of who is not its host, the other page does not take it. */
  mute(peer: string): void {
    this.#pairs.get(peer)?.mute()
  }

  #sent(): Sent {
    const { audio, video, screen } = this.own.state
    return { audio, video: screen ?? video, isScreen: screen !== null, isHandRaised: this.state.isHandRaised }
  }

  #show(): void {
    for (const pair of this.#pairs.values()) void pair.show(this.#sent())
  }

  async #enter(): Promise<void> {
    try {
      const entered = await this.#line.enter({ token: await this.#token() })
      this.#entered = entered
      this.#failures = 0
      this.#change({ phase: 'in' })
      this.#part(entered.me.peer)
      for (const person of entered.people) this.#meet(person)
      for (const { peer } of this.state.people) this.#call(peer)
      for (const [from, signal] of this.#early.splice(0)) void this.#take(from, signal)
    } catch (cause) {
      const error = asAppError(cause)
      const isWaiting = error.code === 'HOST_ABSENT'
      if (error.status < 500 && !isWaiting) return this.#end(error)
      if (isWaiting) this.#failures = 0
      this.#change({ phase: isWaiting ? 'waiting' : 'away' })
      const pause = isWaiting ? waitingMilliseconds : backoff(this.#failures++, againMilliseconds)
      setTimeout(() => this.#line.isOpen && void this.#enter(), pause)
    }
  }

  #meet({ peer, name, isHost }: Seated): void {
    if (peer === this.#entered?.me.peer) return
    const known = this.state.people.find((one) => one.peer === peer)
    const person = known ?? { peer, state: 'connecting' as const, media: null, sends: nothing }
    this.#change({ people: [...this.state.people.filter((one) => one !== known), { ...person, name, isHost }] })
    this.#call(peer)
  }

  /** Of two people, the one with the greater id makes the offer, once it knows of the other. */
  #call(peer: string): void {
    const mine = this.#entered?.me.peer
    if (mine === undefined || mine <= peer || this.#pairs.has(peer)) return
    void this.#send(peer, this.#pair(peer).offer())
  }

  async #take(from: string, signal: Signal): Promise<void> {
    if (this.#entered === null) return void this.#early.push([from, signal])
    const pair = this.#pairs.get(from)
    if (signal.type === 'answer') return void pair?.answered(signal).catch(() => this.#lost(from))
    pair?.close()
    await this.#send(from, this.#pair(from).answer(signal))
  }

  async #send(to: string, described: Promise<Signal>): Promise<void> {
    try {
      await this.#line.signal({ to, signal: await described })
    } catch {
      this.#lost(to)
    }
  }

  #pair(peer: string): Pair {
    const isThis = () => this.#pairs.get(peer) === pair
    const iceServers = (this.#entered?.iceServers ?? []).map(({ urls, ...secret }) => ({
      urls,
      ...withoutUndefined(secret),
    }))
    const pair: Pair = new Pair(iceServers, this.#sent(), {
      state: (state) => isThis() && (state === 'lost' ? this.#lost(peer) : this.#know(peer, { state })),
      media: (media) => isThis() && this.#know(peer, { media }),
      sends: (sends) => isThis() && this.#know(peer, { sends }),
      mute: () => {
        const isByHost = this.state.people.some((one) => one.peer === peer && one.isHost)
        if (isThis() && isByHost) this.own.muteByHost()
      },
    })
    this.#pairs.set(peer, pair)
    return pair
  }

  /** Whoever makes the offers makes another one after a while, for as long as the other is there. */
  #lost(peer: string): void {
    this.#know(peer, { state: 'lost' })
    this.#pairs.get(peer)?.close()
    this.#pairs.delete(peer)
    const isThere = () => this.state.people.some((one) => one.peer === peer)
    setTimeout(() => isThere() && this.#call(peer), againMilliseconds)
  }

  #know(peer: string, about: Partial<Attendee>): void {
    this.#change({ people: this.state.people.map((one) => (one.peer === peer ? { ...one, ...about } : one)) })
  }

  #part(peer: string): void {
    this.#pairs.get(peer)?.close()
    this.#pairs.delete(peer)
    this.#change({ people: this.state.people.filter((one) => one.peer !== peer) })
  }

  /** Whoever was there is met anew once the server is reached. */
  #lose(): void {
    this.#entered = null
    this.#early = []
    for (const { peer } of this.state.people) this.#part(peer)
    this.#change({ phase: 'away' })
  }

  #end(why: NonNullable<MeetingState['why']>): void {
    if (this.state.phase === 'over') return
    this.#unsubscribe()
    this.#lose()
    this.#change({ phase: 'over', why })
    this.#line.close()
    this.own.close()
  }

  #change(part: Partial<MeetingState>): void {
    if (this.state.phase !== 'over') this.#state.set({ ...this.state, ...part })
  }
}
