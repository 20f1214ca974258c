import { repeatWork } from '#server/kernel/beat'
import type { Logger } from './logger.ts'
import { type Degradation, degradations } from './metrics.ts'

/** Checks of some parts; the others report themselves. */
type DegradedChecks = Partial<Record<Degradation, () => boolean | Promise<boolean>>>

/** The register of degraded parts; `onDegraded` returns a function that unsubscribes. */
interface DegradedRegister {
  degraded(part: Degradation, isSo: boolean): void
  degradedParts(): readonly Degradation[]
  onDegraded(listener: (part: Degradation, isSo: boolean) => void): () => void
}

const everyMilliseconds = 1_000

interface DegradedWatch {
  parts(): Promise<readonly string[]>
  stop(): void
}

/** Reports each degraded part to the metric, `/readyz` and clients, and logs each change. */
export async function watchDegraded(
  looks: DegradedChecks,
  metrics: DegradedRegister,
  logger: Logger,
): Promise<DegradedWatch> {
  const look = async () => {
    for (const [part, isSo] of Object.entries(looks)) metrics.degraded(part as Degradation, await isSo())
  }
  const unsubscribe = metrics.onDegraded((part, isSo) =>
    logger.warn({ part }, isSo ? `${part} ${degradations[part]}` : `${part}: well again`),
  )
  await look()
  const stopLooking = repeatWork(everyMilliseconds, () => void look().catch(() => undefined))
  return {
    async parts() {
      await look()
      return metrics.degradedParts()
    },
    stop() {
      stopLooking()
      unsubscribe()
    },
  }
}
