import type { DeviceKey } from '#shared/api/people/device-keys'
import type { Epoch, SealedBy } from '#shared/api/rooms/epochs'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { peerIn, peersOf } from '#shared/kit/room-key'
import { asAppError } from '../failures.ts'
import { pauseFor } from '../timing.ts'
import type { ConversationKey, DirectDevice, DirectState, Draft, Secrecy } from '../types.ts'
import { randomBytes, toBase64Url } from './bytes.ts'
import { verify } from './certificate.ts'
import { isPublicKey, openKey, sealKey } from './envelope.ts'
import { epochIn, innerFrom, NoMessage, openMessage, type Place, saltOf, sealMessage } from './message.ts'
import { type Opened, openFormer } from './opened.ts'
import type { OwnOptions } from './own.ts'
import type { Sealer } from './shared.ts'
import type { Kept } from './store.ts'
import { accepting, type Judged, safetyNumber, trust } from './trust.ts'

export interface ConversationOptions extends OwnOptions {
  room: RoomRef
  account: string
  own(): Promise<Kept>
  changed(): void
}

interface Known {
  id: string
  seq: number
  isCurrent: boolean
  deviceIds: readonly string[]
  /** Those that devices of this account have sealed it to. */
  ownDeviceIds: readonly string[]
  key: Uint8Array<ArrayBuffer> | null
  why: Secrecy['why']
}

const devicesLastMilliseconds = 10_000
const requestsEveryMilliseconds = 20_000
const attempts = 6
/** So long a failure answers whoever asks. */
const failuresLastMilliseconds = 2_000

/** The keys of one direct conversation: which devices they are sealed to, and which messages they open. */
export class Conversation implements Sealer {
  readonly #options: ConversationOptions
  readonly #dm: string
  readonly #epochs = new Map<string, Known>()
  /** Epochs that messages named and that were not known: each is looked for once. */
  readonly #sought = new Set<string>()
  #kept: Kept | null = null
  #devices: readonly DirectDevice[] = []
  #there: readonly string[] = []
  #isRemoved = false
  #why: string | null = null
  #loadedAt = Number.NEGATIVE_INFINITY
  #askedAt = Number.NEGATIVE_INFINITY
  #asked = 0
  #mustBegin = false
  #loading: Promise<void> | null = null
  #reading: Promise<void> | null = null
  #readAgain = false
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#dm = options.room.id ?? ''
  }

  get state(): DirectState {
    const isStopped = this.#devices.some(({ state }) => isOpenQuestion(state))
    const isLoaded = this.#kept !== null && this.#loadedAt > Number.NEGATIVE_INFINITY
    const why = this.#isRemoved ? 'This device was removed from your account.' : this.#why
    const state = why !== null ? 'unavailable' : !isLoaded ? 'opening' : isStopped ? 'stopped' : 'ready'
    return { state, why, devices: this.#devices, deviceId: this.#kept?.device_id ?? null }
  }

  /** Loads the devices and what is sealed to this one; once, and again after a failure. */
  ready(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      setTimeout(() => {
        this.#loading = null
      }, failuresLastMilliseconds)
      this.#why = asAppError(error).code === 'SERVICE_UNAVAILABLE' ? null : asAppError(error).message
      this.#options.changed()
      throw error
    })
    return this.#loading
  }

  async #load(): Promise<void> {
    this.#kept = await this.#options.own()
    this.#why = null
    await this.#loadDevices()
    await this.#read()
  }

  /** Counts the events about keys. */
  async refresh(devicesToo = false): Promise<void> {
    await this.ready()
    if (devicesToo) await this.#loadDevices()
    await this.#read()
  }

  async #loadDevices(): Promise<void> {
    const { call, store, host, account, now } = this.#options
    const people = peersOf(this.#dm)
    const { devices } = (await call('deviceKeys.list', { addresses: people.join(',') })) as { devices: DeviceKey[] }
    const own = this.#kept?.device_id
    const judged = await Promise.all(
      devices.map(async (device): Promise<Judged> => {
        const isThis = device.device_id === own && device.public_key === this.#kept?.public_key
        const [vouched, isReadable] = await Promise.all([verify(device, host), isPublicKey(device.public_key)])
        return { ...device, vouched, isReadable, isThis }
      }),
    )
    let states: DirectDevice[] = []
    const kept = await store.change(account, (held) => {
      if (!held) return undefined
      const pins = { ...held.pins }
      states = people.flatMap((address) => {
        const after = trust(
          held.pins[address],
          judged.filter((one) => isSameAccount(one.address, address)),
          now(),
        )
        pins[address] = after.pins
        return after.states
      })
      return JSON.stringify(pins) === JSON.stringify(held.pins) ? undefined : { ...held, pins }
    })
    this.#kept = kept ?? this.#kept
    this.#isRemoved = !devices.some(({ device_id }) => device_id === own)
    this.#there = devices.map(({ device_id }) => device_id)
    this.#devices = states.filter(({ deviceId }) => deviceId !== own)
    this.#loadedAt = now()
    this.#options.changed()
  }

  /** Reads the epochs; while it does, further calls read once more. */
  #read(): Promise<void> {
    if (this.#reading) {
      this.#readAgain = true
      return this.#reading
    }
    this.#reading = (async () => {
      do {
        this.#readAgain = false
        await this.#readEpochs()
      } while (this.#readAgain)
    })().finally(() => {
      this.#reading = null
      this.#options.changed()
    })
    return this.#reading
  }

  async #readEpochs(): Promise<void> {
    const { call } = this.#options
    const device_id = this.#kept?.device_id ?? ''
    for (let before: number | undefined, more = true; more; ) {
      const input = { id: this.#dm, device_id, ...(before === undefined ? {} : { before_seq: before }) }
      const page = (await call('epochs.list', input)) as { epochs: Epoch[]; has_more: boolean }
      if (before === undefined) for (const epoch of this.#epochs.values()) epoch.isCurrent = false
      const isAllKnown = page.epochs.every(({ epoch_id }) => this.#epochs.get(epoch_id)?.key)
      for (const epoch of page.epochs) await this.#learn(epoch)
      more = page.has_more && !isAllKnown
      before = page.epochs.at(-1)?.seq
    }
    this.#request()
  }

  async #learn({ epoch_id: id, seq, is_current: isCurrent, envelopes, ...sealedTo }: Epoch): Promise<void> {
    const { device_ids: deviceIds, own_device_ids: ownDeviceIds } = sealedTo
    const known = this.#epochs.get(id)
    const opened = known?.key ? { key: known.key, why: null } : await this.#open(id, envelopes)
    this.#epochs.set(id, { id, seq, isCurrent, deviceIds, ownDeviceIds, ...opened })
  }

  async #open(epoch: string, envelopes: Epoch['envelopes']): Promise<Pick<Known, 'key' | 'why'>> {
    let why: Known['why'] = 'no key'
    for (const { by, ...envelope } of envelopes) {
      const kept = this.#kept
      if (!kept) break
      if (!(await this.#isTrusted(by, kept))) {
        why = 'untrusted'
        continue
      }
      const use = { dm: this.#dm, epoch, device: kept.device_id }
      const key = await openKey(envelope, kept.keys, by.public_key, use).catch(() => null)
      if (key?.length === 32) return { key: new Uint8Array(key), why: null }
      why = 'damaged'
    }
    return { key: null, why }
  }

  /** Whoever gives a key could have made it: it counts from this device, and from others that are trusted. */
  async #isTrusted(by: SealedBy, kept: Kept): Promise<boolean> {
    if (!peersOf(this.#dm).includes(by.address)) return false
    if (by.device_id === kept.device_id) return by.public_key === kept.public_key
    const pins = kept.pins[by.address] ?? {}
    const pin = pins[by.device_id]
    if (pin) return pin.key === by.public_key && pin.accepted
    const vouched = await verify(by, this.#options.host)
    if (vouched === 'valid') return true
    if (vouched === 'invalid' || Object.keys(pins).length > 0) return false
    return this.#trustAtSight({ ...by, vouched, isReadable: await isPublicKey(by.public_key), isThis: false })
  }

  /** Of a deleted account no device is listed. The first that is seen of it is trusted, as of any other account. */
  async #trustAtSight(device: Judged): Promise<boolean> {
    const { store, account, now } = this.#options
    const kept = await store.change(account, (held) => {
      if (!held) return undefined
      const { pins } = trust(held.pins[device.address], [device], now())
      return { ...held, pins: { ...held.pins, [device.address]: pins } }
    })
    this.#kept = kept ?? this.#kept
    return kept?.pins[device.address]?.[device.device_id]?.accepted ?? false
  }

  /** Asks the other devices for what this one was not given. */
  #request(): void {
    const { call, now } = this.#options
    const lacks = [...this.#epochs.values()].some(({ why }) => why === 'no key' || why === 'damaged')
    if (!lacks || now() - this.#askedAt < requestsEveryMilliseconds || !this.#kept) return
    this.#askedAt = now()
    const ask = async () => {
      await call('epochs.request', { id: this.#dm, device_id: this.#kept?.device_id })
      // Whoever has it may come online later.
      const again = setTimeout(() => this.#request(), requestsEveryMilliseconds * 2 ** Math.min(this.#asked++, 5) + 100)
      // In Node a timer keeps the process running.
      ;(again as unknown as { unref?(): void }).unref?.()
    }
    void ask().catch(() => undefined)
  }

  /** Gives a device what it lacks, if it is trusted. Of several that could, those of its own account are asked first. */
  async answer({ address, device_id }: { address: string; device_id: string }): Promise<void> {
    await this.ready()
    if (device_id === this.#kept?.device_id) return
    await this.#loadDevices()
    if (!isSameAccount(address, this.#options.account)) await pauseFor(150 + (randomBytes(1)[0] ?? 0))
    await this.#read()
    const to = this.#devices.find(({ deviceId, state }) => deviceId === device_id && state === 'trusted')
    if (!to) return
    for (const epoch of this.#epochs.values()) {
      // What the other has sealed to a device of this account may open nothing.
      const deviceIds = isSameAccount(address, this.#options.account) ? epoch.ownDeviceIds : epoch.deviceIds
      await this.#share({ ...epoch, deviceIds }, [to])
    }
  }

  async #share({ id, key, deviceIds }: Known, to: readonly DirectDevice[]): Promise<void> {
    const lacking = to.filter(({ deviceId }) => !deviceIds.includes(deviceId))
    const kept = this.#kept
    if (!key || !kept || lacking.length === 0) return
    const envelopes = await this.#sealed(id, key, kept, lacking)
    await this.#options.call('epochs.share', { id: this.#dm, epoch_id: id, device_id: kept.device_id, envelopes })
  }

  #sealed(
    epoch: string,
    key: Uint8Array<ArrayBuffer>,
    kept: Kept,
    to: readonly Pick<DirectDevice, 'deviceId' | 'key'>[],
  ) {
    return Promise.all(
      to.map(({ deviceId, key: theirs }) => sealKey(key, kept.keys, theirs, { dm: this.#dm, epoch, device: deviceId })),
    )
  }

  /** The key for what is sent now. It begins an epoch where there is none, and where a device has gone since. */
  sendingKey(): Promise<{ epochId: string; key: Uint8Array<ArrayBuffer> }> {
    const next = this.#turn.then(() => this.#sendingKey())
    this.#turn = next.catch(() => undefined)
    return next
  }

  async #sendingKey() {
    const { call, account, room, now } = this.#options
    await this.ready()
    if (now() - this.#loadedAt > devicesLastMilliseconds) await this.#loadDevices()
    const peer = peerIn(room, account) ?? ''
    if (!this.#devices.some(({ address }) => isSameAccount(address, peer))) {
      // Who has a conversation may know the devices of the other.
      await call('rooms.openDm', { recipientAddress: peer })
      await this.#loadDevices()
    }
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { state, why } = this.state
      if (state === 'unavailable') throw new AppError('CONFLICT', { message: why ?? 'This device has no keys' })
      if (state === 'stopped') throw new AppError('CONFLICT', { message: stopped, details: { devices: 'waiting' } })
      const current = [...this.#epochs.values()].find((epoch) => epoch.isCurrent)
      const isWhole = current?.deviceIds.every((id) => this.#there.includes(id)) && !this.#mustBegin
      if (current?.key && isWhole) {
        await this.#share(current, this.#trusted()).catch(() => undefined)
        return { epochId: current.id, key: current.key }
      }
      await this.#begin()
    }
    throw new AppError('CONFLICT', { message: 'The keys of this conversation change faster than it could be sealed' })
  }

  #trusted(): readonly DirectDevice[] {
    return this.#devices.filter(({ state }) => state === 'trusted')
  }

  async #begin(): Promise<void> {
    const { call } = this.#options
    const kept = this.#kept
    if (!kept) return
    const last = [...this.#epochs.values()].reduce<Known | null>(
      (one, other) => (one && one.seq > other.seq ? one : other),
      null,
    )
    const [id, key] = [toBase64Url(randomBytes(16)), randomBytes(32)]
    const to = [{ deviceId: kept.device_id, key: kept.public_key }, ...this.#trusted()]
    const envelopes = await this.#sealed(id, key, kept, to)
    const input = { id: this.#dm, epoch_id: id, after: last?.id ?? null, device_id: kept.device_id, envelopes }
    try {
      const { seq } = (await call('epochs.start', input)) as { seq: number }
      if (last) last.isCurrent = false
      const deviceIds = to.map(({ deviceId }) => deviceId)
      this.#epochs.set(id, { id, seq, isCurrent: true, deviceIds, ownDeviceIds: deviceIds, key, why: null })
      this.#mustBegin = false
    } catch (error) {
      if (asAppError(error).code !== 'CONFLICT') throw error
      await this.#loadDevices()
      await this.#read()
    }
  }

  /** The text of a message, as the server takes it. */
  async seal(place: Omit<Place, 'dm'>, draft: Draft): Promise<string> {
    const { epochId, key } = await this.sendingKey()
    const { mediaEpoch } = draft
    const { client_msg_id, ...inner } = innerFrom(draft, place.client_msg_id)
    const media = mediaEpoch && mediaEpoch !== epochId ? { media_epoch: mediaEpoch } : {}
    return sealMessage(key, epochId, { ...place, dm: this.#dm }, { ...inner, ...media, client_msg_id })
  }

  async open(place: Omit<Place, 'dm'>, text: string): Promise<Opened> {
    const epochId = epochIn(text)
    if (epochId !== null) await this.ready()
    if (epochId !== null && !this.#epochs.has(epochId) && !this.#sought.has(epochId)) {
      this.#sought.add(epochId)
      await this.refresh(true)
    }
    const epoch = epochId === null ? undefined : this.#epochs.get(epochId)
    if (!epoch) return openFormer(this.#dm, text)
    if (!epoch.key) return { state: 'locked', why: epoch.why, isSecret: true, epochId, inner: null }
    try {
      const inner = await openMessage(epoch.key, { ...place, dm: this.#dm }, text)
      const media = { epochId: inner.media_epoch ?? epochId, ...saltOf(inner) }
      return { state: 'clear', why: null, isSecret: true, ...media, inner }
    } catch (error) {
      const why = error instanceof NoMessage ? 'malformed' : 'damaged'
      return { state: 'locked', why, isSecret: true, epochId, inner: null }
    }
  }

  async keyOf(epochId: string): Promise<ConversationKey> {
    await this.ready()
    const key = this.#epochs.get(epochId)?.key
    if (!key) throw new AppError('NOT_FOUND', { message: 'This key was not given to this device' })
    return { epochId, key }
  }

  async safetyNumber(): Promise<readonly string[]> {
    await this.ready()
    await this.#loadDevices()
    const kept = this.#kept
    const own = kept ? [{ address: this.#options.account, deviceId: kept.device_id, key: kept.public_key }] : []
    return safetyNumber([...own, ...this.#devices.filter(({ state }) => state !== 'left out')])
  }

  async acceptDevices(): Promise<void> {
    await this.ready()
    const shown = this.#devices
    const { store, account, now } = this.#options
    await store.change(account, (held) => {
      if (!held) return undefined
      const pins = { ...held.pins }
      for (const address of peersOf(this.#dm))
        pins[address] = accepting(
          pins[address],
          shown.filter((one) => isSameAccount(one.address, address)),
          now(),
        )
      return { ...held, pins }
    })
    this.#mustBegin ||= shown.some(({ state }) => state === 'changed' || state === 'forged')
    await this.#loadDevices()
    await this.#read()
    // They asked while they waited, and were given nothing.
    for (const epoch of this.#epochs.values()) await this.#share(epoch, this.#trusted()).catch(() => undefined)
  }

  /** Does this error ask to seal the message anew? Then the keys are read again. */
  async isStale(error: unknown): Promise<boolean> {
    const { code, details } = asAppError(error)
    if (code !== 'CONFLICT' || details?.epoch_id === undefined) return false
    await this.#loadDevices()
    await this.#read()
    const current = [...this.#epochs.values()].find(({ isCurrent }) => isCurrent)
    this.#mustBegin ||=
      current !== undefined &&
      current.id === details.epoch_id &&
      current.deviceIds.some((id) => !this.#there.includes(id))
    return true
  }
}

const isOpenQuestion = (state: DirectDevice['state']) =>
  state === 'waiting' || state === 'changed' || state === 'forged'
const stopped = 'Nothing is sent until you have looked at the new devices of this conversation.'
