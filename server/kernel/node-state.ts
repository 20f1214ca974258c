import type { Node } from './context.ts'

/**
 * State that each node has of its own: the function gives a node's, made when it is first asked for and gone with the node. Nodes
 * that run in one process share none.
 */
export const nodeState =
  <State extends object>(make: () => State) =>
  ({ state }: Pick<Node, 'state'>): State => {
    const made = (state.get(make) as State | undefined) ?? make()
    state.set(make, made)
    return made
  }
