import type { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { PublicPage } from '#shared/api/people/accounts'

type PublicPageOutput = z.input<typeof PublicPage>

/** Parts of a public page besides the profile. */
interface PageParts {
  /** The public agents, newest first. */
  agents(account: string): Promise<PublicPageOutput['agents']>
  /** The booking page; null if there is none. */
  scheduling(account: string): Promise<PublicPageOutput['scheduling']>
}

const partsOn = nodeState((): Partial<PageParts> => ({}))

/** Registers parts at the start of a node, by their domains. */
export const registerPageParts = (node: Node, parts: Partial<PageParts>): void =>
  void Object.assign(partsOn(node), parts)

export async function pagePartsOf(node: Node, account: string): Promise<Pick<PublicPageOutput, keyof PageParts>> {
  const parts = partsOn(node)
  const [agents = [], scheduling = null] = await Promise.all([parts.agents?.(account), parts.scheduling?.(account)])
  return { agents, scheduling }
}
