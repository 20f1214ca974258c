const tally = { passed: 0, failed: 0, skipped: 0 }
const lines: string[] = []
const costs: { label: string; project: string; seconds: number }[] = []
const unsteady: string[] = []
const MOST_UNSTEADY = 5
const MOST_COSTLY = 20

/** A line at the end of the run. */
export function say(line: string): void {
  lines.push(line)
}

export function fail(reason: string): void {
  tally.failed += 1
  lines.push(`Failed: ${reason}`)
}

export function pass(count = 1): void {
  tally.passed += count
}

export function skip(reason: string, count = 1): void {
  tally.skipped += count
  lines.push(`Skipped: ${reason}`)
}

/** A test that failed once and passed once: counts as passed, and is a fault of the test or a race of the product. */
export function markUnsteady(label: string, why: string): void {
  unsteady.push(label)
  lines.push(`Unsteady: ${label}\n${why}`)
  pass()
}

export function noteCost(project: string, file: string, seconds: number): void {
  costs.push({ label: `${file} (${project})`, project, seconds })
}

/** Prints what cost most and what failed; the last line counts. */
export function conclude(): void {
  if (unsteady.length > MOST_UNSTEADY) fail(`${unsteady.length} tests are unsteady; ${MOST_UNSTEADY} are the most.`)
  if (tally.passed + tally.failed === 0) fail('No check and no test ran.')
  const costly = costs.toSorted((one, other) => other.seconds - one.seconds).slice(0, MOST_COSTLY)
  const rows = costly.map(({ label, seconds }) => costLine(seconds, label))
  const sums = new Map<string, number>()
  for (const { project, seconds } of costs) sums.set(project, (sums.get(project) ?? 0) + seconds)
  rows.push(...[...sums].map(([project, seconds]) => costLine(seconds, `all files of ${project}`)))
  if (costs.length > 0) console.log(`\nThe files that cost most, in seconds of processor time:\n${rows.join('\n')}`)
  const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : ''
  console.log(`\n${lines.join('\n')}\n${tally.passed} passed, ${tally.failed} failed${skipped}`)
  process.exitCode = tally.failed > 0 ? 1 : 0
}

const costLine = (seconds: number, of: string) => `${seconds.toFixed(0).padStart(5)} s  ${of}`
