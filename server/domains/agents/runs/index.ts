import type { Actions, Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import type { agentConversations, agentRuns } from '#shared/api/agents/agent-runs'
import { sweepRuns } from './begin.ts'
import * as chat from './chat.ts'
import { followBegun } from './chat.ts'
import { conversations, renameConversation } from './conversations.ts'
import { followInterest, followStops, stopAllRuns } from './relay.ts'
import { followRefusals } from './stop.ts'

export const runActions: Actions<typeof agentRuns & typeof agentConversations> = {
  ...chat,
  conversations,
  renameConversation,
}

export const startRuns = (node: Node): readonly Stop[] => [
  followBegun(node),
  followInterest(node),
  followStops(node),
  followRefusals(node),
  sweepRuns(node),
  () => stopAllRuns(node),
]
