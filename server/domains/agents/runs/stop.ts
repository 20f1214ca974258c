import { setTimeout } from 'node:timers/promises'
import { accountSuspended } from '#server/domains/accounts/events'
import { isOf } from '#server/domains/events/define'
import type { Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import { stopRun } from './begin.ts'
import { type RunState, Runs, type StoredRun } from './model.ts'
import { isHere, tellToStop } from './relay.ts'

const waitMilliseconds = 2_000
const lookMilliseconds = 50

/** Stops a run wherever it is worked on, and waits a while until it has ended. Stopping it again does nothing. */
export async function askToStop(node: Node, run: StoredRun, by: string): Promise<RunState> {
  if (run.state !== 'running') return run.state
  await Runs.updateOne(
    { _id: run._id, state: 'running', cancelled_by: null },
    { $set: { cancelled_by: by, stop_at: run.node } },
  )
  if (isHere(node, run._id)) stopRun(node, run._id, by)
  else tellToStop(node, run)
  const began = performance.now()
  for (;;) {
    const now = await Runs.findOne({ _id: run._id }).select({ state: 1 }).lean<{ state: RunState }>()
    if (now?.state !== 'running' || performance.now() - began > waitMilliseconds) return now?.state ?? 'cancelled'
    await setTimeout(lookMilliseconds)
  }
}

/** Stops what is being answered to somebody who is suspended meanwhile. */
export function stopForSuspended(node: Node): () => void {
  const warn = (error: unknown) => node.logger.warn({ error }, 'answers to a suspended account were not stopped')
  node.log.onRows((key, rows, isOurs) => {
    if (key !== GLOBAL || !isOurs) return
    for (const row of rows) if (isOf(row, accountSuspended)) stopAllOf(node, row.target ?? '', row.sender).catch(warn)
  })
  return () => {}
}

async function stopAllOf(node: Node, account: string, by: string): Promise<void> {
  const runs = await Runs.find({ account, state: 'running' }).lean<StoredRun[]>()
  await Promise.all(runs.map((run) => askToStop(node, run, by)))
}
