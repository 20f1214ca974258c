import { randomUUID } from 'node:crypto'
import { longestMessage, type Redis } from '#server/ports/redis/port'
import type { Peers } from './port.ts'

const timeoutMilliseconds = 200
const headroom = 1_024

interface Word {
  from: string
  word: unknown
}
interface Question {
  id: string
  question: unknown
}
interface Answer {
  id: string
  answer: unknown
}

/** Each topic is a sharded channel of its own. */
export function redisPeers(redis: Redis, node: string): Peers {
  const waiting = new Map<string, (answer: unknown) => void>()
  const channelOf = (topic: string) => `${redis.prefix}:peers:${topic}`

  function tell(topic: string, word: unknown): boolean {
    if (!redis.isUp()) return true
    const message = JSON.stringify({ from: node, word } satisfies Word)
    if (message.length > longestMessage - headroom) return false
    redis.publish(channelOf(topic), message).catch(() => {})
    return true
  }

  function listen(topic: string, listener: (word: unknown) => void): () => void {
    return redis.subscribe(channelOf(topic), (message) => {
      const { from, word } = wordFrom(message)
      if (from !== node) listener(word)
    })
  }

  listen(`answers:${node}`, (word) => {
    const { id, answer } = word as Answer
    waiting.get(id)?.(answer)
  })

  return {
    isUp: redis.isUp,
    onReturn: (listener) => redis.onChange((isUp) => isUp && listener()),
    tell,
    listen,

    async ask(topic, question) {
      if (!redis.isUp()) return []
      const id = `${node} ${randomUUID()}`
      const answers: unknown[] = []
      const message = JSON.stringify({ from: node, word: { id, question } satisfies Question })
      const timer = { late: undefined as NodeJS.Timeout | undefined }
      try {
        await new Promise<void>((resolve) => {
          let expected = Number.POSITIVE_INFINITY
          const isEnough = () => answers.length >= expected && resolve()
          timer.late = setTimeout(resolve, timeoutMilliseconds)
          waiting.set(id, (answer) => {
            answers.push(answer)
            isEnough()
          })
          redis.publish(channelOf(`questions:${topic}`), message).then((heardBy) => {
            // One of the receivers is the sender.
            expected = heardBy - 1
            isEnough()
          }, resolve)
        })
      } finally {
        clearTimeout(timer.late)
        waiting.delete(id)
      }
      return answers
    },

    answer: (topic, answerer) =>
      listen(`questions:${topic}`, (word) => {
        const { id, question } = word as Question
        const [asking = ''] = id.split(' ')
        tell(`answers:${asking}`, { id, answer: answerer(question) } satisfies Answer)
      }),
  }
}

/** The seal proves that a node of ours wrote it. */
const wordFrom = (message: string) => JSON.parse(message) as Word
