import type { Actions, Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import type { agentRuns as contract } from '#shared/api/agent-runs'
import { stopAllRuns, stopRun } from './begin.ts'
import { listenToBegun } from './begun.ts'
import * as chat from './chat.ts'
import { listenToStops, listenToWants } from './relay.ts'
import { stopForRefused } from './stop.ts'
import { sweepRuns } from './sweep.ts'

export const runActions: Actions<typeof contract> = chat

export const startRuns = (node: Node): readonly Stop[] => [
  listenToBegun(node),
  listenToWants(node),
  listenToStops(node, (run, by) => stopRun(node, run, by)),
  stopForRefused(node),
  sweepRuns(node),
  () => stopAllRuns(node),
]
