import type { VideoEvent } from './port.ts'

/** Who hears what a provider does that is asked for it: every few milliseconds, as long as somebody hears. */
export function polledHearers(poll: () => Promise<void>, milliseconds: number) {
  const hearers = new Set<(event: VideoEvent) => void>()
  let polling: NodeJS.Timeout | undefined
  return {
    tell(event: VideoEvent): void {
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
