import { nodeState } from '#server/kernel/node-state'

/** Who is told the tokens that the vectors of what an agent knows have taken, outside of its answers. */
export const spending = nodeState(() => ({ count: (_agent: string, _tokens: number): void => undefined }))
