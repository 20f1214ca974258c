import type { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { PublicPage } from '#shared/api/accounts'

type Shown = z.input<typeof PublicPage>

/** What the public page of an account shows beside its profile. */
interface Parts {
  /** Its public agents, the newest first. */
  agents(account: string): Promise<Shown['agents']>
  /** The page at which it can be booked; null where it cannot. */
  scheduling(account: string): Promise<Shown['scheduling']>
}

const partsOn = nodeState((): Partial<Parts> => ({}))

/** Told at the start of a node by the domains whose parts they are. */
export const showsOnPages = (node: Node, parts: Partial<Parts>): void => void Object.assign(partsOn(node), parts)

/** What these parts show of an account. */
export async function partsOf(node: Node, account: string): Promise<Pick<Shown, keyof Parts>> {
  const parts = partsOn(node)
  const [agents = [], scheduling = null] = await Promise.all([parts.agents?.(account), parts.scheduling?.(account)])
  return { agents, scheduling }
}
