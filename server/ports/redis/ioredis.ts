import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Redis as Client, type RedisOptions } from 'ioredis'
import { longestMessage, type Redis } from './port.ts'

const sealBytes = 16
const sealLength = Math.ceil((sealBytes * 8) / 6)

interface Seal {
  close(channel: string, message: string): string
  /** Null if the seal is not of our keys, or of another channel. */
  open(channel: string, sealed: string): string | null
}

/** Only holders of a key make messages, and damage is noticed. The first key seals, all verify. */
function sealWith(secrets: readonly Uint8Array[]): Seal {
  const keys = secrets.map((secret) => createHmac('sha256', secret).update('messages between nodes').digest())
  const markOf = (key: Buffer, channel: string, message: string) =>
    createHmac('sha256', key).update(`${channel}\n${message}`).digest().subarray(0, sealBytes)
  const [first] = keys
  if (!first) throw new Error('There is no key to seal with.')
  return {
    close: (channel, message) => markOf(first, channel, message).toString('base64url') + message,
    open(channel, sealed) {
      const mark = Buffer.from(sealed.slice(0, sealLength), 'base64url')
      const message = sealed.slice(sealLength)
      if (mark.length !== sealBytes) return null
      return keys.some((key) => timingSafeEqual(mark, markOf(key, channel, message))) ? message : null
    },
  }
}

const deadlineMilliseconds = 250
const probeMilliseconds = 500
const reconnectAtMost = 500
const openMilliseconds = 1_000
const giveUpMilliseconds = 5_000
const channelsAtOnce = 500

const options = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  // Commands of one turn of the event loop are sent together.
  enableAutoPipelining: true,
  connectTimeout: 2_000,
  retryStrategy: (times: number) => Math.min(50 * times, reconnectAtMost),
} satisfies RedisOptions

interface RedisSetting {
  url: string
  prefix: string
  secrets: readonly Uint8Array[]
  warn(what: string): void
}

/** Two connections, for commands and subscriptions, both failing fast. They start without Redis, and reconnect. */
export async function openRedis({ url, prefix, secrets, ...setting }: RedisSetting): Promise<Redis> {
  const warn = onceAMinute(setting.warn)
  let trouble: string | null = null
  const failed = ({ message }: Error) => {
    trouble = message
  }
  const asking = connect(url, failed)
  const listening = connect(url, failed)
  const health = watchHealth([asking, listening])
  const seal = sealWith(secrets)
  const channels = subscriptions(listening, warn)
  await health.known
  return {
    name: `Redis ${asking.options.host}:${asking.options.port}`,
    prefix,
    isUp: health.isUp,
    trouble: () => trouble,
    onChange: health.onChange,

    run: (script, keys, values) => health.guard(() => evaluate(asking, script, keys.length, [...keys, ...values])),

    async publish(channel, message) {
      if (message.length > longestMessage) throw new Error('The message is too long to be told.')
      if (!health.isUp()) throw new Error('Redis is away.')
      return asking.spublish(channel, seal.close(channel, message)).then(Number)
    },

    subscribe(channel, listener) {
      return channels.add(channel, (sealed) => {
        const message = sealed.length > 2 * longestMessage ? null : seal.open(channel, sealed)
        if (message === null) warn('a message on Redis that no node of ours sent was dropped')
        else listener(message)
      })
    },

    async close() {
      health.stop()
      asking.disconnect()
      listening.disconnect()
    },
  }
}

function connect(url: string, failed: (error: Error) => void): Client {
  const client = new Client(url, options)
  client.on('error', failed)
  return client
}

function onceAMinute(warn: (what: string) => void): (what: string) => void {
  const warnedAt = new Map<string, number>()
  return (what) => {
    if (performance.now() - (warnedAt.get(what) ?? Number.NEGATIVE_INFINITY) < 60_000) return
    warnedAt.set(what, performance.now())
    warn(what)
  }
}

/** Scripts are known by their hash; a server that has lost them is sent them again. */
async function evaluate(client: Client, script: string, keys: number, given: (string | number)[]): Promise<unknown> {
  try {
    return await client.evalsha(hashOf(script), keys, ...given)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return client.eval(script, keys, ...given)
  }
}

const hashes = new Map<string, string>()
function hashOf(script: string): string {
  const hash = hashes.get(script) ?? createHash('sha1').update(script).digest('hex')
  hashes.set(script, hash)
  return hash
}

/** Restores subscriptions after each loss of the connection. */
function subscriptions(client: Client, warn: (what: string) => void) {
  const heard = new Map<string, Set<(message: string) => void>>()
  const refused = (error: Error) => {
    if (/unknown command/i.test(error.message)) warn('this Redis has no sharded channels, which came with 7.0')
  }
  client.on('smessage', (channel: string, message: string) => {
    for (const listener of heard.get(channel) ?? []) {
      try {
        listener(message)
      } catch (error) {
        warn(`a message on Redis could not be taken: ${error instanceof Error ? error.name : 'unknown'}`)
      }
    }
  })
  client.on('ready', () => {
    const all = [...heard.keys()]
    for (let from = 0; from < all.length; from += channelsAtOnce)
      client.ssubscribe(...all.slice(from, from + channelsAtOnce)).catch(refused)
  })
  return {
    add(channel: string, listener: (message: string) => void) {
      const listeners = heard.get(channel) ?? new Set()
      heard.set(channel, listeners)
      if (listeners.size === 0 && client.status === 'ready') client.ssubscribe(channel).catch(refused)
      listeners.add(listener)
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return
        heard.delete(channel)
        if (client.status === 'ready') client.sunsubscribe(channel).catch(refused)
      }
    },
  }
}

/** Pings each connection twice a second, so that nobody else waits on a dead one. */
function watchHealth(clients: readonly Client[]) {
  const listeners: ((isUp: boolean) => void)[] = []
  let isUp = false
  let isStopped = false
  const become = (now: boolean) => {
    if (now === isUp || isStopped) return
    isUp = now
    for (const listener of listeners) listener(now)
  }
  const pings = clients.map(pinging)
  const probe = async () => {
    const answered = await Promise.all(pings.map((ping) => within(ping(), deadlineMilliseconds).then(yes, no)))
    become(answered.every(Boolean))
  }
  for (const client of clients) {
    client.on('close', () => become(false))
    client.on('ready', () => void probe())
  }
  const timer = setInterval(() => void probe(), probeMilliseconds).unref()
  return {
    /** Settled when Redis has answered, or has had its time to. */
    known: new Promise<void>((resolve) => {
      const late = setTimeout(resolve, openMilliseconds)
      listeners.push(() => {
        clearTimeout(late)
        resolve()
      })
    }),
    isUp: () => isUp,
    onChange: (listener: (isUp: boolean) => void) => void listeners.push(listener),
    async guard<T>(work: () => Promise<T>): Promise<T> {
      if (!isUp) throw new Error('Redis is away.')
      return within(work(), deadlineMilliseconds, () => become(false))
    },
    stop() {
      isStopped = true
      isUp = false
      clearInterval(timer)
    },
  }
}

const yes = () => true
const no = () => false

/** One ping at a time; a connection that has not answered one for long is made anew. */
function pinging(client: Client): () => Promise<unknown> {
  let pending: Promise<unknown> | null = null
  let since = 0
  return () => {
    if (pending && performance.now() - since > giveUpMilliseconds) client.disconnect(true)
    if (pending) return pending
    since = performance.now()
    const asked = client.ping().finally(() => {
      pending = null
    })
    pending = asked
    return asked
  }
}

/** An answer that arrived while this process was busy is read before the timeout. */
function within<T>(work: Promise<T>, milliseconds: number, onLate: () => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => {
      onLate()
      reject(new Error(`Redis did not answer within ${milliseconds} ms.`))
    }
    let last: NodeJS.Immediate | undefined
    const timer = setTimeout(() => {
      last = setImmediate(late)
    }, milliseconds)
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      clearImmediate(last)
    })
  })
}
