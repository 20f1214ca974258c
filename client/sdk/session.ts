import type { OutputOf } from '#shared/kit/contract'
import { asAppError, isAboutSession, wasNotAnswered } from './failures.ts'
import { observable } from './observable.ts'
import { readStored, writeStored } from './storage.ts'
import type { PlazaApi } from './table.ts'
import { backoff, pauseFor } from './timing.ts'
import type { ClientStorage, SignedIn, SignInUser, Wallet } from './types.ts'

type Identity = PlazaApi['identity']
export type AskIdentity = {
  (name: 'identity.begin', input: { address: string }): Promise<OutputOf<Identity['begin']>>
  (
    name: 'identity.verify',
    input: { address: string; message: string; signature: string },
  ): Promise<OutputOf<Identity['verify']>>
  (name: 'identity.refresh', input: { refreshToken: string }): Promise<OutputOf<Identity['refresh']>>
  (name: 'identity.logout', input: { allDevices: boolean }): Promise<OutputOf<Identity['logout']>>
  (name: 'identity.session', input: Record<string, never>): Promise<OutputOf<Identity['session']>>
}

interface Kept {
  token: string | null
  refreshToken: string | null
  account: string | null
  endedBy: string | null
}

const storageKey = 'plaza:session'
const nobody: Kept = { token: null, refreshToken: null, account: null, endedBy: null }

/** Whose session this client speaks for. The tokens are kept in the storage, where other tabs find newer ones. */
export class Session {
  readonly #storage: ClientStorage
  readonly #ask: AskIdentity
  readonly #kept
  #refreshing: Promise<boolean> | undefined

  constructor(storage: ClientStorage, token: string | null | undefined, ask: AskIdentity) {
    this.#storage = storage
    this.#ask = ask
    const stored = readStored<Kept>(storage, storageKey) ?? nobody
    const isOther = token !== undefined && token !== stored.token
    this.#kept = observable<Kept>(isOther ? { ...nobody, token } : stored)
  }

  get token(): string | null {
    return this.#kept.value.token
  }
  get account(): string | null {
    return this.#kept.value.account
  }
  get endedBy(): string | null {
    return this.#kept.value.endedBy
  }
  subscribe(listener: () => void): () => void {
    return this.#kept.subscribe(listener)
  }

  async signIn({ address, signMessage }: Wallet): Promise<SignInUser> {
    const { message } = await this.#ask('identity.begin', { address })
    const signature = await signMessage(message)
    return this.enter(await this.#ask('identity.verify', { address, message, signature }))
  }

  /** Goes on as whoever a sign-in has answered. */
  enter({ sessionToken, refreshToken, userAddress, user }: SignedIn): SignInUser {
    this.#keep({ token: sessionToken, refreshToken, account: userAddress, endedBy: null })
    return user
  }

  async signOut(): Promise<void> {
    const { token } = this
    if (token !== null) await this.#ask('identity.logout', { allDevices: false }).catch(() => undefined)
    this.#keep(nobody)
  }

  /** The account behind a token that came without one. */
  async learnAccount(): Promise<void> {
    if (this.token === null || this.account !== null) return
    const answer = await this.#ask('identity.session', {}).catch(() => null)
    if (answer) this.welcomed(answer.userAddress)
  }

  welcomed(account: string): void {
    if (account !== '' && account !== this.account) this.#keep({ ...this.#kept.value, account })
  }

  end(code: string): void {
    this.#keep({ ...nobody, endedBy: code })
  }

  /** The server has refused this session: goes on with a newer one, or ends. */
  async renewOrEnd(code: string): Promise<void> {
    for (let failures = 0; this.token !== null; failures++) {
      try {
        if (code === 'SESSION_NOT_FOUND' || !(await this.refresh())) this.end(code)
        return
      } catch {
        await pauseFor(backoff(failures, 1_000))
      }
    }
  }

  /** True when there is a newer session now; one refresh at a time, in all tabs. */
  refresh(): Promise<boolean> {
    this.#refreshing ??= alone('plaza:refresh', () => this.#refresh()).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #refresh(): Promise<boolean> {
    const stored = readStored<Kept>(this.#storage, storageKey)
    const { token, account, refreshToken } = this.#kept.value
    if (stored?.token && stored.token !== token && stored.account === account) {
      this.#kept.set(stored)
      return true
    }
    if (refreshToken === null) return false
    try {
      const fresh = await this.#ask('identity.refresh', { refreshToken })
      this.#keep({
        token: fresh.sessionToken,
        refreshToken: fresh.refreshToken,
        account: fresh.userAddress,
        endedBy: null,
      })
      return true
    } catch (error) {
      const refusal = asAppError(error)
      if (wasNotAnswered(refusal) || !isAboutSession(refusal.code)) throw refusal
      return false
    }
  }

  #keep(kept: Kept): void {
    writeStored(this.#storage, storageKey, kept.token === null ? null : kept)
    this.#kept.set(kept)
  }
}

function alone<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
  const locks = typeof navigator === 'undefined' ? undefined : navigator.locks
  return locks ? locks.request(name, act) : act()
}
