import type { App } from '#server/app'

/** The scripted life of the demo. */
export async function startDemo(_app: App): Promise<{ stop(): void }> {
  return { stop() {} }
}
