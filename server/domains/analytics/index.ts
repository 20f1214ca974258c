import type { Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/node-state'
import { analytics as contract, type Period } from '#shared/api/analytics'
import type { OutputOf } from '#shared/kit/contract'
import { bucketOf, summaryOf } from './count.ts'
import { spanOf } from './spans.ts'

type Counted = OutputOf<typeof contract.read>

const keptMilliseconds = 60_000
const countedOn = nodeState(() => new Map<Period, { until: number; answer: Promise<Counted> }>())

export const analytics = defineDomain(contract, {
  read: ({ period }, { node }) => counted(node, period),
})

/** Counts once a minute, whoever asks; what failed is counted anew. */
function counted(node: Node, period: Period): Promise<Counted> {
  const all = countedOn(node)
  const known = all.get(period)
  if (known && node.now() < known.until) return known.answer
  const answer = count(period, node.now())
  all.set(period, { until: node.now() + keptMilliseconds, answer })
  answer.catch(() => all.delete(period))
  return answer
}

async function count(period: Period, now: number): Promise<Counted> {
  const { start, buckets, labelOf } = spanOf(period, now)
  const timeSeries = []
  for (const [at, from] of buckets.entries())
    timeSeries.push({
      date: new Date(from).toISOString(),
      label: labelOf(from),
      ...(await bucketOf(from, buckets[at + 1] ?? now)),
    })
  return {
    summary: await summaryOf(start, now),
    timeSeries,
    period,
    startDate: new Date(start).toISOString(),
    endDate: new Date(now).toISOString(),
  }
}
