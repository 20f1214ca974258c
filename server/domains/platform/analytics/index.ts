import { registerCounters } from '#server/domains/people/accounts/counters'
import type { Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/operate/node-state'
import { analytics as contract, type Period, type WalletType } from '#shared/api/platform/analytics'
import type { OutputOf } from '#shared/kit/contract'
import { accountCountersOf, analyticsBucket, analyticsSummary, totalMessages } from './count.ts'
import { analyticsLists } from './lists.ts'
import { pointGifts, pointsByReason } from './points.ts'
import { spanOfPeriod } from './spans.ts'

type AnalyticsAnswer = OutputOf<typeof contract.read>

const keptMilliseconds = 60_000
const cachedOn = nodeState(() => new Map<string, { until: number; answer: Promise<AnalyticsAnswer> }>())

export const analytics = defineDomain(
  contract,
  { read: ({ period, exclude }, { node }) => cachedAnalytics(node, period, exclude) },
  {
    start(node) {
      registerCounters(node, accountCountersOf)
      return []
    },
  },
)

/** Analytics are computed once a minute; a failed computation is repeated. */
function cachedAnalytics(node: Node, period: Period, exclude: readonly WalletType[]): Promise<AnalyticsAnswer> {
  const all = cachedOn(node)
  const now = node.now()
  for (const [name, { until }] of all) if (until <= now) all.delete(name)
  const name = [period, ...exclude].join()
  const known = all.get(name)
  if (known) return known.answer
  const answer = computeAnalytics(period, exclude, now)
  all.set(name, { until: now + keptMilliseconds, answer })
  answer.catch(() => all.delete(name))
  return answer
}

async function computeAnalytics(period: Period, exclude: readonly WalletType[], now: number): Promise<AnalyticsAnswer> {
  const { start, buckets, labelOf } = spanOfPeriod(period, now)
  const gifts = await pointGifts()
  const timeSeries = []
  for (const [at, from] of buckets.entries())
    timeSeries.push({
      date: new Date(from).toISOString(),
      label: labelOf(from),
      ...(await analyticsBucket(from, buckets[at + 1] ?? now, exclude, gifts)),
    })
  const summary = await analyticsSummary(start, now, exclude, gifts)
  return {
    summary: { ...summary, totalMessages: await totalMessages() },
    timeSeries,
    ...(await analyticsLists(summary, exclude)),
    pointsBreakdown: await pointsByReason(gifts, now),
    period,
    startDate: new Date(start).toISOString(),
    endDate: new Date(now).toISOString(),
  }
}
