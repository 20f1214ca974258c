/** How an operation for those who may talk to an agent is refused. */
export const visibleAgentErrors = ['AGENT_NOT_FOUND', 'AGENT_PRIVATE', 'AGENT_FRIENDS_ONLY'] as const

/** How an operation for the owner of an agent is refused. */
export const ownAgentErrors = ['AGENT_NOT_FOUND', 'AGENT_PRIVATE'] as const
