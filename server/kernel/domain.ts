import type { Contract, Namespace } from '#shared/kit/contract'
import {
  type Actions,
  type Bound,
  bindActions,
  type Caller,
  type Connection,
  type Job,
  type Node,
  type Role,
} from './context.ts'
import type { RawRoute } from './http/raw-route.ts'
import { nodeState } from './operate/node-state.ts'
import type { DomainSettings } from './settings.ts'

/** Stops a service that a domain started. */
export type Stop = () => void

/** The optional members of a domain. */
interface DomainExtras {
  settings?: DomainSettings
  /** Its work for later, which every node runs. */
  jobs?: readonly Job[]
  /** Paths to which other sites send browsers; each answers by a redirect. */
  routes?(node: Node): readonly RawRoute[]
  /** The URLs among these that its records show: such files are kept. */
  shows?(urls: readonly string[], node: Node): Promise<readonly (string | null | undefined)[]>
  /** Handles a new connection to a namespace, after `session:ready`. */
  connected?: {
    readonly [N in Namespace]?: (
      node: Node,
      connection: Connection & { account: string | null },
    ) => Promise<void> | void
  }
  /**
   * Starts its services on a node, before the node listens. Domains start simultaneously, so each subscribes to the log
   * before its first wait. An error stops the start of the node.
   */
  start?(node: Node): readonly Stop[] | Promise<readonly Stop[]>
}

/** A part of the server: one contract, its actions, and its services. */
export interface Domain<C extends Contract = Contract> extends DomainExtras {
  contract: C
  /** Its operations, named by its name in the registry. */
  bind(name: string): Bound[]
}

/** Binds actions to their contract; a missing or wrong one does not compile. */
export const defineDomain = <C extends Contract>(
  contract: C,
  actions: Actions<C>,
  beside: DomainExtras = {},
): Domain<C> => ({
  contract,
  bind: (name) => bindActions(name, contract, actions),
  ...beside,
})

const startedOn = nodeState((): { domains?: readonly Domain[] } => ({}))

/** Starts all domains on a node; returns their stops. */
export async function startDomains(domains: readonly Domain[], node: Node): Promise<readonly Stop[]> {
  startedOn(node).domains = domains
  const started = await Promise.all(domains.map((domain) => domain.start?.(node) ?? []))
  return started.flat()
}

/**
 * The URLs among these that any domain shows. It throws before the domains start, because files they show must be kept.
 */
export async function shownUrls(node: Node, urls: readonly string[]): Promise<readonly (string | null | undefined)[]> {
  const { domains } = startedOn(node)
  if (!domains) throw new Error('The domains of this node have not started')
  return (await Promise.all(domains.map(({ shows }) => shows?.(urls, node) ?? []))).flat()
}

/** The proof of an admin in place of a session; over REST `message` is base64 of its URI encoding. */
export interface AdminProof {
  address: string
  message: string
  signature: string
}

/** The accounts of callers, as the domain of sessions implements them. */
export interface Callers {
  /** Throws for an invalid credential; without one, the caller is anonymous. */
  identify(credential: string | null, seen: { ip: string; userAgent: string }): Promise<Caller>
  /**
   * The account whose wallet signed the message. It throws UNAUTHORIZED for a wrong or old signature. Its role is not
   * checked.
   */
  identifyAdmin(proof: AdminProof, seen: { ip: string; userAgent: string; origin: string | null }): Promise<Caller>
  /** The sessions among these that are still stored. */
  alive(sessionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** The caller's part of `session:ready`. */
  describe(caller: Caller): Promise<Record<string, unknown> | null>
  roleOf(account: string): Promise<Role>
  /** Is an account suspended? Each call that writes asks, so the answer comes from memory if possible. */
  isSuspended(account: string): boolean | Promise<boolean>
}
