import { isSameAccount } from '#shared/kit/accounts'
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
  (name: 'identity.refresh', input: { refreshToken?: string }): Promise<OutputOf<Identity['refresh']>>
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
const settleMilliseconds = 1_500
const renewBeforeMilliseconds = 6 * 24 * 60 * 60 * 1000
const nobody: Kept = { token: null, refreshToken: null, account: null, endedBy: null }

/**
 * The session of this client. Tokens are kept in the storage, where other tabs find newer ones. Of a session that is a
 * cookie, only the account is stored; its token is kept in memory, to renew the session of open connections.
 */
export class Session {
  readonly #storage: ClientStorage
  readonly #ask: AskIdentity
  readonly #kept
  readonly #isCookie: boolean
  /** True if the browser does not keep the cookie, as on a page without TLS: the token in memory is sent instead. */
  #isCookieLost = false
  #refreshing: Promise<boolean> | undefined

  constructor(storage: ClientStorage, token: string | null | undefined, ask: AskIdentity, isCookie = false) {
    this.#storage = storage
    this.#ask = ask
    this.#isCookie = isCookie
    const stored = { ...nobody, ...readStored<Partial<Kept>>(storage, storageKey) }
    const isOther = token !== undefined && token !== stored.token
    this.#kept = observable<Kept>(isOther ? { ...nobody, token } : stored)
  }

  get token(): string | null {
    return this.#kept.value.token
  }
  /** The token that a call carries; null if the cookie identifies the caller. */
  get bearer(): string | null {
    return this.#isCookie && !this.#isCookieLost ? null : this.token
  }
  /** True if an account is signed in, as far as this client knows. */
  get isBegun(): boolean {
    return this.token !== null || (this.#isCookie && this.account !== null)
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

  /** Continues with the session that a sign-in answered. */
  enter({ sessionToken, refreshToken, userAddress, user }: SignedIn): SignInUser {
    this.#isCookieLost = false
    this.#keep({ token: sessionToken, refreshToken, account: userAddress, endedBy: null })
    return user
  }

  async signOut(): Promise<void> {
    if (this.isBegun) await this.#ask('identity.logout', { allDevices: false }).catch(() => undefined)
    this.#keep(nobody)
  }

  /** Renews a cookie long before it expires, as the browser deletes an expired one. */
  expiresAt(time: string | null, now: number): void {
    if (this.#isCookie && time !== null && Date.parse(time) - now < renewBeforeMilliseconds)
      void this.refresh().catch(() => undefined)
  }

  /** Exchanges tokens that an earlier version of the page stored for the cookie, once. */
  async adopt(): Promise<void> {
    if (!this.#isCookie || this.#kept.value.refreshToken === null) return
    const isBegun = await this.refresh().catch(() => true)
    if (!isBegun) this.end('SESSION_EXPIRED')
  }

  /** Asks for the account of a token that was given without one. */
  async learnAccount(): Promise<void> {
    if (this.token === null || this.account !== null) return
    const answer = await this.#ask('identity.session', {}).catch(() => null)
    if (answer) this.welcomed(answer.userAddress)
  }

  welcomed(account: string): void {
    if (account !== '' && !isSameAccount(account, this.account)) this.#keep({ ...this.#kept.value, account })
  }

  end(code: string): void {
    this.#isCookieLost = false
    this.#keep({ ...nobody, endedBy: code })
  }

  /** Called when the server has refused this session: continues with a newer one, or ends. */
  async renewOrEnd(code: string): Promise<void> {
    let isLast = !this.#isCookie
    for (let failures = 0; this.isBegun; failures++) {
      try {
        if (!isLast || code !== 'SESSION_NOT_FOUND') {
          if (await this.refresh()) return
        }
        if (isLast) return this.end(code)
        // A sign-in that is in progress in this browser sets a new cookie within a moment.
        isLast = true
        code = 'SESSION_EXPIRED'
        await pauseFor(settleMilliseconds)
      } catch {
        await pauseFor(backoff(failures, 1_000))
      }
    }
  }

  /** Refreshes the session, one refresh at a time across all tabs; resolves with true if there is a newer session. */
  refresh(): Promise<boolean> {
    this.#refreshing ??= alone('plaza:refresh', () => this.#refresh()).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #refresh(): Promise<boolean> {
    if (this.#isCookie) return this.#refreshCookie()
    const stored = readStored<Kept>(this.#storage, storageKey)
    const { token, account, refreshToken } = this.#kept.value
    if (stored?.token && stored.token !== token && isSameAccount(stored.account, account)) {
      this.#kept.set(stored)
      return true
    }
    return refreshToken !== null && this.#refreshWith({ refreshToken })
  }

  async #refreshCookie(): Promise<boolean> {
    const { refreshToken } = this.#kept.value
    if (refreshToken !== null && (await this.#refreshWith({ refreshToken }))) return true
    if (await this.#refreshWith({})) return true
    if (this.token === null || this.#isCookieLost) return false
    this.#isCookieLost = true
    return this.#refreshWith({})
  }

  async #refreshWith(proof: { refreshToken?: string }): Promise<boolean> {
    try {
      const fresh = await this.#ask('identity.refresh', proof)
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
    const { account } = kept
    const stored = this.#isCookie ? account && { account } : kept.token && kept
    writeStored(this.#storage, storageKey, stored || null)
    this.#kept.set(this.#isCookie ? { ...kept, refreshToken: null } : kept)
  }
}

function alone<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
  const locks = typeof navigator === 'undefined' ? undefined : navigator.locks
  return locks ? locks.request(name, act) : act()
}
