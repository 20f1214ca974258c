import type { JobQueue, RunJob } from './port.ts'

interface Consumer {
  run: RunJob
  atOnce: number
  running: Set<Promise<void>>
}

/** Brings ids to the consumers of this process. */
export function memoryQueue(): JobQueue {
  const waiting = new Set<string>()
  const consumers = new Set<Consumer>()

  function dispatch(): void {
    for (const id of waiting) {
      const [consumer] = [...consumers]
        .filter(({ running, atOnce }) => running.size < atOnce)
        .sort((one, other) => one.running.size - other.running.size)
      if (!consumer) return
      waiting.delete(id)
      start(consumer, id)
    }
  }

  function start(consumer: Consumer, id: string): void {
    const running = consumer
      .run(id)
      .then((again) => {
        if (again) setTimeout(push, again.againInMilliseconds, id).unref()
      })
      .catch(() => undefined)
      .finally(() => {
        consumer.running.delete(running)
        dispatch()
      })
    consumer.running.add(running)
  }

  function push(id: string): void {
    waiting.add(id)
    dispatch()
  }

  return {
    push,
    consume(run, atOnce) {
      const consumer = { run, atOnce, running: new Set<Promise<void>>() }
      consumers.add(consumer)
      dispatch()
      return async () => {
        consumers.delete(consumer)
        await Promise.all(consumer.running)
      }
    },
    async close() {
      waiting.clear()
    },
  }
}
