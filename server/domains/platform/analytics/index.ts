import { registerCounters } from '#server/domains/people/accounts/counters'
import type { Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/node-state'
import { analytics as contract, type Period, type WalletType } from '#shared/api/analytics'
import type { OutputOf } from '#shared/kit/contract'
import { bucketOf, summaryOf } from './count.ts'
import { listsOf } from './lists.ts'
import { totalMessages } from './messages.ts'
import { countersOf } from './of-account.ts'
import { giftsOf, pointsByReason } from './points.ts'
import { spanOf } from './spans.ts'

type Counted = OutputOf<typeof contract.read>

const keptMilliseconds = 60_000
const countedOn = nodeState(() => new Map<string, { until: number; answer: Promise<Counted> }>())

export const analytics = defineDomain(
  contract,
  { read: ({ period, exclude }, { node }) => counted(node, period, exclude) },
  {
    start(node) {
      registerCounters(node, countersOf)
      return []
    },
  },
)

/** Counts once a minute, whoever asks; what failed is counted anew. */
function counted(node: Node, period: Period, exclude: readonly WalletType[]): Promise<Counted> {
  const all = countedOn(node)
  const now = node.now()
  for (const [name, { until }] of all) if (until <= now) all.delete(name)
  const name = [period, ...exclude].join()
  const known = all.get(name)
  if (known) return known.answer
  const answer = count(period, exclude, now)
  all.set(name, { until: now + keptMilliseconds, answer })
  answer.catch(() => all.delete(name))
  return answer
}

async function count(period: Period, exclude: readonly WalletType[], now: number): Promise<Counted> {
  const { start, buckets, labelOf } = spanOf(period, now)
  const gifts = await giftsOf()
  const timeSeries = []
  for (const [at, from] of buckets.entries())
    timeSeries.push({
      date: new Date(from).toISOString(),
      label: labelOf(from),
      ...(await bucketOf(from, buckets[at + 1] ?? now, exclude, gifts)),
    })
  const summary = await summaryOf(start, now, exclude, gifts)
  return {
    summary: { ...summary, totalMessages: await totalMessages() },
    timeSeries,
    ...(await listsOf(summary, exclude)),
    pointsBreakdown: await pointsByReason(gifts, now),
    period,
    startDate: new Date(start).toISOString(),
    endDate: new Date(now).toISOString(),
  }
}
