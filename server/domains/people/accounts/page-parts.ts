import type { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { PublicPage } from '#shared/api/accounts'

type Shown = z.input<typeof PublicPage>

/** Parts of a public page besides the profile. */
interface Parts {
  /** The public agents, newest first. */
  agents(account: string): Promise<Shown['agents']>
  /** The booking page; null if there is none. */
  scheduling(account: string): Promise<Shown['scheduling']>
}

const partsOn = nodeState((): Partial<Parts> => ({}))

/** Registers parts at the start of a node, by their domains. */
export const showsOnPages = (node: Node, parts: Partial<Parts>): void => void Object.assign(partsOn(node), parts)

export async function partsOf(node: Node, account: string): Promise<Pick<Shown, keyof Parts>> {
  const parts = partsOn(node)
  const [agents = [], scheduling = null] = await Promise.all([parts.agents?.(account), parts.scheduling?.(account)])
  return { agents, scheduling }
}
