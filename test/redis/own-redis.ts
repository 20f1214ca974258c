import { type RedisServer, startRedis } from '../../scripts/test-servers.mjs'

/** A Redis server for one test. */
export interface OwnRedis {
  url: string
  /** It keeps its connections and answers nothing. */
  hang(): void
  wake(): void
  kill(): Promise<void>
  /** Starts it again at the same address, empty. */
  start(): Promise<void>
}

export async function ownRedis(): Promise<OwnRedis> {
  let server = await started(0)
  const { url } = server
  return {
    url,
    hang: () => server.signal('SIGSTOP'),
    wake: () => server.signal('SIGCONT'),
    async kill() {
      server.signal('SIGKILL')
      await server.stop()
    },
    async start() {
      server = await started(Number(new URL(url).port))
    },
  }
}

async function started(port: number): Promise<RedisServer> {
  const server = await startRedis(port)
  if ('missing' in server) throw new Error(server.missing)
  return server
}
