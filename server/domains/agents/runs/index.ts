import type { Actions, Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import type { agentRuns as contract } from '#shared/api/agent-runs'
import { listenToBegun } from './begun.ts'
import * as chat from './chat.ts'
import { listenToStops, listenToWants, stopAllRuns } from './relay.ts'
import { stopForRefused } from './stop.ts'
import { sweepRuns } from './sweep.ts'

export const runActions: Actions<typeof contract> = chat

export const startRuns = (node: Node): readonly Stop[] => [
  listenToBegun(node),
  listenToWants(node),
  listenToStops(node),
  stopForRefused(node),
  sweepRuns(node),
  () => stopAllRuns(node),
]
