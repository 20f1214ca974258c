import type { Node } from '#server/kernel/context'

/** State of each node: the returned function gets it, and creates it on first use. Nodes in one process share none. */
export const nodeState =
  <State extends object>(make: () => State) =>
  ({ state }: Pick<Node, 'state'>): State => {
    const made = (state.get(make) as State | undefined) ?? make()
    state.set(make, made)
    return made
  }
