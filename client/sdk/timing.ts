const unit = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

/** Milliseconds before the next try: exponential backoff with a ceiling; the upper half is random. */
export const backoff = (tries: number, first = 250, ceiling = 8_000): number =>
  Math.min(ceiling, first * 2 ** Math.min(tries, 16)) * (0.5 + unit() / 2)

/** Resolves after a number of milliseconds, or as soon as the signal aborts. */
export const pauseFor = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })

/** Throttles: runs at once, then at most once in an interval; calls within it run once, at its end. */
export function atMostEvery(milliseconds: number, act: () => void): { (): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isDue = false
  const run = () => {
    isDue = false
    timer = setTimeout(() => {
      timer = undefined
      if (isDue) run()
    }, milliseconds)
    act()
  }
  const ask = () => {
    if (timer === undefined) run()
    else isDue = true
  }
  return Object.assign(ask, {
    cancel() {
      clearTimeout(timer)
      timer = undefined
      isDue = false
    },
  })
}
