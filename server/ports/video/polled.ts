import type { VideoEvent } from './port.ts'

/** Subscribers of a polled provider, which is polled while there are any. */
export function polledHearers(poll: () => Promise<void>, milliseconds: number) {
  const hearers = new Set<(event: VideoEvent) => void>()
  let polling: NodeJS.Timeout | undefined
  return {
    notify(event: VideoEvent): void {
      for (const hear of hearers) hear(event)
    },
    subscribe(hear: (event: VideoEvent) => void): () => void {
      hearers.add(hear)
      polling ??= setInterval(() => void poll(), milliseconds).unref()
      return () => {
        hearers.delete(hear)
        if (hearers.size > 0) return
        clearInterval(polling)
        polling = undefined
      }
    },
  }
}
