import { randomUUID } from 'node:crypto'
import { asAppError, isPassing } from '#client/sdk/failures'
import { createClient, memoryStorage, type Client as Sdk } from '#client/sdk/index'
import { backoff, pauseFor } from '#client/sdk/timing'

const patience = 60_000

/** The SDK as somebody at one node has it; without a token it is nobody's. */
export const sdkOf = (url: string, token: string | null = null): Sdk =>
  createClient({ url, token, transport: 'rest', storage: memoryStorage() })

/** Reads stores and services beside the nodes, which may fail in any way at first. */
export const insistOnReading = <T>(read: () => Promise<T>): Promise<T> =>
  insist(read, { milliseconds: 30_000, passes: () => true })

/**
 * Asks again, as clients do, while the answer passes or none comes. The key is the same in each try, so that what acts acts once. Everything
 * that the run itself asks of a node goes through here, as any of it may fail at the first try.
 */
export async function insist<T>(
  ask: (key: string) => Promise<T>,
  { milliseconds = patience, passes = (error: unknown) => isPassing(asAppError(error)) } = {},
): Promise<T> {
  const key = randomUUID()
  const began = performance.now()
  for (let failed = 0; ; failed++) {
    try {
      return await ask(key)
    } catch (error) {
      if (!passes(error) || performance.now() - began > milliseconds) throw error
      await pauseFor(backoff(failed, 100, 2_000))
    }
  }
}
