import { AppError } from '#shared/errors'
import type { PlatformData } from './port.ts'

/** The same answer to every question. */
export function fakePlatformData(
  answer: unknown,
): PlatformData & { asked: unknown[]; away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null } {
  const data = {
    asked: [] as unknown[],
    away: null as 'UPSTREAM_ERROR' | 'TIMEOUT' | null,
    async query(document: string, variables: Readonly<Record<string, unknown>>, signal: AbortSignal) {
      signal.throwIfAborted()
      data.asked.push({ document, variables })
      if (data.away) throw new AppError(data.away)
      return JSON.stringify(answer)
    },
  }
  return data
}
