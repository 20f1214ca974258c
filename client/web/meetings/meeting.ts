import { asAppError } from '#client/sdk/failures'
import { type MeetingLine, openMeetingLine } from '#client/sdk/meeting-line'
import { observable } from '#client/sdk/observable'
import { table } from '#client/sdk/table'
import { backoff } from '#client/sdk/timing'
import type { Client } from '#client/sdk/types'
import type { Seated } from '#shared/api/meetings/meeting-seats'
import type { AppError } from '#shared/errors'
import { withoutUndefined } from '#shared/kit/without-undefined'
import type { OwnMedia } from '../devices/own-media.ts'
import { Pair, type Sends, type Sent, type Signal } from './pair.ts'

export interface Attendee extends Seated {
  state: 'connecting' | 'there' | 'lost'
  media: MediaStream | null
  sends: Sends
}

export interface MeetingState {
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
