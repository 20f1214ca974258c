import { type Degradation, degradations } from './degradations.ts'
import type { Logger } from './logger.ts'

/** What is found out by looking; the others tell of themselves. */
type Looks = Partial<Record<Degradation, () => boolean | Promise<boolean>>>

/** Where it is kept what is so now; returns of a listener how to stop it. */
interface Told {
  degraded(part: Degradation, isSo: boolean): void
  degradedParts(): readonly Degradation[]
  onDegraded(listener: (part: Degradation, isSo: boolean) => void): () => void
}

const everyMilliseconds = 1_000

export interface DegradedWatch {
  /** What is so at this moment. */
  parts(): Promise<readonly string[]>
  stop(): void
}

/** Has the same said of each by the metric, by `/readyz` and to clients, and in the log where it changes. */
export async function watchDegraded(looks: Looks, metrics: Told, logger: Logger): Promise<DegradedWatch> {
  const look = async () => {
    for (const [part, isSo] of Object.entries(looks)) metrics.degraded(part as Degradation, await isSo())
  }
  const stopTelling = metrics.onDegraded((part, isSo) =>
    logger.warn({ part }, isSo ? `${part} ${degradations[part]}` : `${part}: well again`),
  )
  await look()
  const timer = setInterval(() => void look().catch(() => undefined), everyMilliseconds).unref()
  return {
    async parts() {
      await look()
      return metrics.degradedParts()
    },
    stop() {
      clearInterval(timer)
      stopTelling()
    },
  }
}
