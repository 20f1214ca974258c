import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'

/** Who shows what people have uploaded, beside messages. */
const showing = ['people', 'profiles', 'agents', 'rooms', 'reports', 'bug reports'] as const
type Showing = (typeof showing)[number]

/** Which of these addresses are shown. */
type Namer = (urls: readonly string[]) => Promise<readonly (string | null | undefined)[]>

const namersOf = nodeState(() => new Map<Showing, Namer>())

/** Told at the start of a node by each of them. */
export const namesFiles = (node: Node, who: Showing, namer: Namer): void => void namersOf(node).set(who, namer)

/** Those of these addresses that anybody shows. Throws where somebody cannot be asked yet: what they show must stay. */
export async function shownAmong(node: Node, urls: readonly string[]): Promise<readonly (string | null | undefined)[]> {
  const asked = showing.map((who) => {
    const namer = namersOf(node).get(who)
    if (!namer) throw new Error(`The pictures of ${who} are not known yet`)
    return namer(urls)
  })
  return (await Promise.all(asked)).flat()
}
