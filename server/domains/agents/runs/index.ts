import type { Actions, Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import type { agentConversations } from '#shared/api/agents/agent-conversations'
import type { agentRuns } from '#shared/api/agents/agent-runs'
import { followBegun } from './begun-notices.ts'
import * as chat from './chat.ts'
import { conversations, renameConversation } from './conversations.ts'
import { followInterest, followStops, stopAllRuns } from './relay.ts'
import { followRefusals } from './stop.ts'
import { sweepRuns } from './sweep.ts'

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
