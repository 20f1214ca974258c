import { appendFileSync } from 'node:fs'
import type { Metrics } from '#server/kernel/operate/metrics'

/** Notes what every operation answered in this process so far, for `scripts/outcomes.ts` to judge. */
export async function noteOutcomes(nodes: readonly { metrics: Metrics }[]): Promise<void> {
  const file = process.env.PLAZA_TEST_OUTCOMES
  if (!file) return
  const texts = await Promise.all(nodes.map(({ metrics }) => metrics.text()))
  const counted = texts.join('\n').matchAll(/^plaza_operations_total\{operation="([^"]+)".*outcome="([^"]+)"\}/gm)
  const met = new Set([...counted].map(([, operation, outcome]) => `${operation} ${outcome}\n`))
  appendFileSync(file, [...met].join(''))
}
