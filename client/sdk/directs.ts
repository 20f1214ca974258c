import type { keyRequested } from '#shared/api/rooms/epochs'
import type { Room } from '#shared/api/rooms/room'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { isInClear } from '#shared/kit/clear-types'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKinds, type SealedBy, sealedBy } from '#shared/kit/room-kinds'
import type { Call } from './calls.ts'
import type { Conversation } from './direct/conversation.ts'
import { isUnderSharedKey } from './direct/layout.ts'
import type { Opened } from './direct/opened.ts'
import type { SharedKey } from './direct/shared.ts'
import type { Kept, KeyStore } from './direct/store.ts'
import { asAppError, isPassing } from './failures.ts'
import { keyOf } from './keys.ts'
import { SealedRoom } from './sealed-room.ts'
import { table } from './table.ts'
import type { Transport } from './transport.ts'
import type { DirectState, LocalMessage, PayloadOf, Wallet } from './types.ts'

interface DirectsOptions {
  call: Call
  store: KeyStore | null
  host: string
  vouchedBy(account: string): Promise<Wallet | null>
  account(): string | null
  now(): number
}

const opening: DirectState = { state: 'opening', why: null, devices: [], deviceId: null }
const noStorage = 'This client keeps no keys, so it can neither send nor open direct messages.'
const unavailable: DirectState = { ...opening, state: 'unavailable', why: noStorage }

// What seals is loaded where somebody has direct messages.
const load = () => Promise.all([import('./direct/conversation.ts'), import('./direct/own.ts')])

/** The rooms of this client whose messages are sealed, and the keys of its device. */
export class Directs {
  readonly #options: DirectsOptions
  readonly #known = new Map<string, SealedBy | null>()
  #open = new Map<string, Direct | Shared>()
  #openFor: string | null = null
  #own: { account: string; kept: Promise<Kept> } | null = null
  #wallet: Wallet | null = null

  constructor(options: DirectsOptions) {
    this.#options = options
  }

  /** Null of rooms that are not sealed, and of those of which that is not known yet. */
  of(ref: RoomRef): Direct | Shared | null {
    const by = sealedBy(ref) ?? this.#known.get(keyOf(ref))
    if (!by) return null
    const account = this.#options.account()
    if (!isSameAccount(account, this.#openFor)) this.#open = new Map()
    this.#openFor = account
    const key = keyOf(ref)
    const known = this.#open.get(key) ?? (by === 'epoch' ? this.#direct(ref) : this.#shared(ref))
    this.#open.set(key, known)
    return known
  }

  /** Whether its messages are sealed is in the record of the room. */
  learn(room: Room): void {
    this.#known.set(keyOf(room), sealedBy(room))
  }

  isUnknown(ref: RoomRef): boolean {
    return roomKinds[ref.type]?.mayShareKey && !this.#known.has(keyOf(ref))
  }

  /** What seals the messages of a room, once that is known: nothing is sent in clear before. */
  async toSend(ref: RoomRef): Promise<Direct | Shared | null> {
    if (this.isUnknown(ref)) {
      const asked = this.#options.call('rooms.get', { room: ref }, { tries: 1 }) as Promise<{ room: Room }>
      await asked.then(
        ({ room }) => this.learn(room),
        (error: unknown) => {
          // The refusal of the message itself says more.
          if (isPassing(asAppError(error))) throw error
        },
      )
    }
    return this.of(ref)
  }

  #direct(ref: RoomRef): Direct {
    const direct: Direct = new Direct(ref, () => this.#conversation(ref, () => direct.told()))
    return direct
  }

  #shared(room: RoomRef): Shared {
    const { call } = this.#options
    const shared: Shared = new Shared(room, async () => {
      const { SharedKey } = await import('./direct/shared.ts')
      return new SharedKey({ call, room, changed: () => shared.told() })
    })
    return shared
  }

  /** The wallet that signs in may vouch for this device. */
  signs(wallet: Wallet): void {
    this.#wallet = wallet
  }

  /** Another device asks for what it was not given. */
  listen(transport: Transport): void {
    const { name } = table.events.keyRequested
    transport.hear('/rooms', name, (payload) => {
      const { room, ...asking } = payload as PayloadOf<typeof keyRequested>
      if (!this.#options.store || this.#options.account() === null) return
      const direct = this.of(room)
      const answer = async () => direct instanceof Direct && (await direct.load()).answer(asking)
      void answer().catch(() => undefined)
    })
  }

  /** Tells the server of this device, once an account is signed in. */
  begin(): void {
    if (!this.#options.store || this.#options.account() === null) return
    void this.#ownDevice().catch(() => undefined)
    for (const direct of this.#open.values()) direct.begin()
  }

  async vouch(wallet: Wallet): Promise<void> {
    const [[, { vouchFor }], kept] = await Promise.all([load(), this.#ownDevice()])
    await vouchFor(this.#ownOptions(), this.#account(), kept, wallet)
    await this.#refresh()
  }

  async deviceId(): Promise<string | null> {
    return this.#options.store && (await this.#ownDevice()).device_id
  }

  async renew(): Promise<void> {
    const [, { renewedDevice }] = await load()
    const account = this.#account()
    this.#own = { account, kept: renewedDevice(this.#ownOptions(), account, async () => this.#signerOf(account)) }
    await this.#own.kept
    for (const direct of this.#open.values()) direct.startOver()
  }

  async #refresh(): Promise<void> {
    await Promise.all([...this.#open.values()].map((direct) => direct.refresh(true)))
  }

  #signerOf(account: string): Wallet | null {
    const wallet = this.#wallet
    return wallet && isSameAccount(wallet.address, account) && !wallet.isInteractive ? wallet : null
  }

  #account(): string {
    const account = this.#options.account()
    if (account === null) throw new AppError('UNAUTHORIZED')
    return account
  }

  #ownOptions() {
    const { store } = this.#options
    if (!store) throw new AppError('CONFLICT', { message: noStorage })
    return { ...this.#options, store }
  }

  #ownDevice(): Promise<Kept> {
    const account = this.#account()
    if (!this.#own || !isSameAccount(this.#own.account, account)) {
      const wallet = async () => this.#signerOf(account) ?? (await this.#options.vouchedBy(account))
      const kept = load().then(([, { ownDevice }]) => ownDevice(this.#ownOptions(), account, wallet))
      const own = { account, kept }
      this.#own = own
      kept.catch(() => {
        if (this.#own === own) this.#own = null
      })
    }
    return this.#own.kept
  }

  async #conversation(room: RoomRef, changed: () => void): Promise<Conversation> {
    const [{ Conversation }] = await load()
    const account = this.#account()
    return new Conversation({ ...this.#ownOptions(), room, account, own: () => this.#ownDevice(), changed })
  }
}

/** One direct conversation. */
export class Direct extends SealedRoom<Conversation> {
  get state(): DirectState {
    return this.sealer?.state ?? (this.isUnavailable ? unavailable : opening)
  }

  /** What the server and its admins tell people is in clear. */
  override read(message: LocalMessage, find: (id: string) => LocalMessage | undefined): LocalMessage {
    const isTold = isInClear(message.message_type) && message.local === 'sent' && !message.is_deleted
    return isTold ? this.clear(message) : super.read(message, find)
  }

  override events(events: readonly RoomEvent[]): void {
    if (events.some(({ type }) => table.keyEvents.includes(type))) void this.refresh(true).catch(() => undefined)
  }

  protected async keyless(content: string): Promise<Opened | null> {
    const { openFormer, isFormer } = await import('./direct/opened.ts')
    return isFormer(content) ? openFormer(this.ref.id ?? '', content) : null
  }
}

/** One room whose members share a key. What was said before its messages were sealed is shown as it is. */
export class Shared extends SealedRoom<SharedKey> {
  get state(): null {
    return null
  }

  /** Only members get the key. It is forgotten with the membership. */
  override membershipChanged(): void {
    this.startOver()
  }

  override read(message: LocalMessage, find: (id: string) => LocalMessage | undefined): LocalMessage {
    if (message.is_deleted || message.local !== 'sent' || isUnderSharedKey(message.content))
      return super.read(message, find)
    return this.clear(message)
  }

  protected async keyless(): Promise<null> {
    return null
  }
}
