import type { Contract, Namespace } from '#shared/kit/contract'
import {
  type Actions,
  type Bound,
  type Caller,
  type Connection,
  implement,
  type Job,
  type Node,
  type Role,
} from './context.ts'
import { nodeState } from './node-state.ts'
import type { RawRoute } from './raw-route.ts'
import type { DomainSettings } from './settings.ts'

/** Stops something that a domain started. */
export type Stop = () => void

/** What a domain does beside its operations. */
interface Beside {
  /** Its part of the configuration. */
  settings?: DomainSettings
  /** What it does later; run on every node. */
  jobs?: readonly Job[]
  /** Where browsers come to that other sites send here: they are answered by a redirect. */
  routes?(node: Node): readonly RawRoute[]
  /** The addresses of files among these that its records show: such a file stays. */
  shows?(urls: readonly string[], node: Node): Promise<readonly (string | null | undefined)[]>
  /** What it does with a new connection to a namespace, once that has been told of its session. */
  connected?: {
    readonly [N in Namespace]?: (
      node: Node,
      connection: Connection & { account: string | null },
    ) => Promise<void> | void
  }
  /**
   * Begins what it does by itself on a node, before the node listens. All domains begin at once, so that each must listen to the
   * log before it first waits. A node whose domain fails here does not start.
   */
  start?(node: Node): readonly Stop[] | Promise<readonly Stop[]>
}

/** A part of the server: one contract, what answers it, and what is done beside it. */
export interface Domain<C extends Contract = Contract> extends Beside {
  contract: C
  /** Its operations, under the name that the domain has in the registry. */
  bind(name: string): Bound[]
}

/** Binds actions to their contract; a missing or wrong one does not compile. */
export const defineDomain = <C extends Contract>(contract: C, actions: Actions<C>, beside: Beside = {}): Domain<C> => ({
  contract,
  bind: (name) => implement(name, contract, actions),
  ...beside,
})

const startedOn = nodeState((): { domains?: readonly Domain[] } => ({}))

/** Starts all domains on a node; ends with what stops them. */
export async function startDomains(domains: readonly Domain[], node: Node): Promise<readonly Stop[]> {
  startedOn(node).domains = domains
  const started = await Promise.all(domains.map((domain) => domain.start?.(node) ?? []))
  return started.flat()
}

/** The addresses among these that any domain shows. Throws before the domains start, as what they show must stay. */
export async function shownAmong(node: Node, urls: readonly string[]): Promise<readonly (string | null | undefined)[]> {
  const { domains } = startedOn(node)
  if (!domains) throw new Error('The domains of this node have not started')
  return (await Promise.all(domains.map(({ shows }) => shows?.(urls, node) ?? []))).flat()
}

/** What an admin shows instead of a session; over REST `message` is base64 of its URI encoding. */
export interface AdminProof {
  address: string
  message: string
  signature: string
}

/** Who calls, as the domain that keeps sessions knows it. */
export interface Callers {
  /** Throws where the credential is not good; without one nobody is signed in. */
  identify(credential: string | null, seen: { ip: string; userAgent: string }): Promise<Caller>
  /** Whose wallet signed the message. Throws UNAUTHORIZED where it did not, or that was too long ago; whether they are an admin is another question. */
  identifyAdmin(proof: AdminProof, seen: { ip: string; userAgent: string; origin: string | null }): Promise<Caller>
  /** Which of these sessions still have their record. */
  alive(sessionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** What `session:ready` says of the caller. */
  describe(caller: Caller): Promise<Record<string, unknown> | null>
  /** What somebody may do everywhere. */
  roleOf(account: string): Promise<Role>
  /** May somebody write nowhere at this moment? Asked before every call that writes, so from memory where it can be. */
  isSuspended(account: string): boolean | Promise<boolean>
}
