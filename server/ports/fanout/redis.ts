import { createShardedAdapter } from '@socket.io/redis-adapter'
import type { Redis } from '#server/ports/redis/port'
import type { Fanout } from './port.ts'

/** Sockets of every node, as far as Redis is there; those of this one never wait for it. */
export function redisFanout(redis: Redis): Fanout {
  const stops = new Map<string, () => void>()
  const connection = {
    sSubscribe(channel: string, listener: (message: Buffer, channel: string) => void) {
      stops.get(channel)?.()
      stops.set(
        channel,
        redis.subscribe(channel, (message) => listener(Buffer.from(message), channel)),
      )
    },
    sUnsubscribe(channels: string | string[]) {
      for (const channel of [channels].flat()) {
        stops.get(channel)?.()
        stops.delete(channel)
      }
    },
    // Answered before Redis has answered, as the adapter lets its own sockets wait for it.
    async sPublish(channel: string, message: string) {
      redis.publish(channel, message).catch(() => {})
      return 0
    },
  }
  return createShardedAdapter(connection, connection, { channelPrefix: `${redis.prefix}:sockets` })
}
