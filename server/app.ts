import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { followNodes } from '#server/log/hints'
import { createRoomLog } from '#server/log/index'
import { mongooseLogStore } from '#server/log/store'
import { isDuplicate, isNeverSent } from '#server/ports/database/port'
import { told } from '#shared/api/index'
import type { Config } from './config.ts'
import {
  bound,
  callersOf,
  checkEntry,
  domains,
  mostUploadBytes,
  projection,
  records,
  uploadAdmission,
} from './domains/index.ts'
import { createCallAs } from './kernel/call-as.ts'
import type { Live, Node } from './kernel/context.ts'
import { docsRoutes } from './kernel/docs.ts'
import { startDomains } from './kernel/domain.ts'
import { listenHttp } from './kernel/http/http.ts'
import { headersOfRefusals, originRule } from './kernel/http/http-headers.ts'
import { refuseUnreadable } from './kernel/http/plain-errors.ts'
import { openStreams } from './kernel/http/streams.ts'
import { newId } from './kernel/ids.ts'
import type { Kernel } from './kernel/invoke.ts'
import { createLimits } from './kernel/limits/limits.ts'
import { endSlowBodies, openRequestMeter } from './kernel/limits/request-meter.ts'
import { recordAudit } from './kernel/operate/audit.ts'
import { type ClockWatch, watchClock } from './kernel/operate/clock-watch.ts'
import { watchDegraded } from './kernel/operate/degraded.ts'
import { failpoint } from './kernel/operate/failpoint.ts'
import { createNodeStats, timedStore } from './kernel/operate/node-stats.ts'
import { type Ops, openOps } from './kernel/operate/ops.ts'
import { fileRoutes, pageRoutes } from './kernel/page.ts'
import { eventScopesOf } from './kernel/sockets/connection.ts'
import { openConnectionSlots } from './kernel/sockets/connection-slots.ts'
import { openSockets } from './kernel/sockets.ts'
import { openUploads } from './kernel/uploads.ts'
import { startJobs } from './kernel/work/jobs.ts'
import type { Platform } from './platform.ts'
import type { Database } from './ports/database/port.ts'

export interface App {
  url: string
  opsUrl: string
  node: Node
  /** What is away, or wrong, while the rest works. */
  degraded(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Wires a platform, the domains and the doors into one listening server. */
export async function createApp(config: Config, platform: Platform, { isWorker = false } = {}): Promise<App> {
  const clock = watchClock(() => platform.database.now(), platform.logger)
  const node: Node = {
    ...createNode(config, platform, clock),
    // These are begun below, with this node.
    get live() {
      return live
    },
    get jobs() {
      return jobs
    },
    get callAs() {
      return callAs
    },
  }
  const streams = openStreams(node)
  const { identify, identifyAdmin, roleOf, isSuspended, alive, describe } = callersOf(node)
  const kernel: Kernel = {
    node,
    streams,
    roleOf,
    isSuspended,
    strict: !config.production,
    deliver: (deliveries) => sockets.deliver(deliveries),
    underWay: new Set(),
    record: (line) => recordAudit(node, line),
  }
  const callAs = createCallAs(kernel, bound)
  const shared = {
    kernel,
    bound,
    origins: originRule(config.origins),
    proxies: config.trustedProxies,
    identify,
    meter: openRequestMeter(node, identify),
    headersOfRefusals: headersOfRefusals(node.settings),
  }
  const { captured } = platform
  const { dataDirectory, reserveBytes } = config
  const uploads = await openUploads(join(dataDirectory, 'receiving'), {
    now: node.now,
    mostBytes: mostUploadBytes(node),
    admit: uploadAdmission(node),
    reserveBytes,
  })
  const server = createServer(serverLimits)
  const endIdle = idleConnections(server)
  endSlowBodies(server)
  const slots = openConnectionSlots(server, config.trustedProxies, config.rateLimitScale)
  refuseUnreadable(server)
  const door = listenHttp({
    ...shared,
    identifyAdmin,
    slots,
    uploads,
    raw: [
      ...domains.flatMap((domain) => domain.routes?.(node) ?? []),
      ...docsRoutes(undefined, config.retention.table),
      ...(captured?.routes ?? []),
      ...fileRoutes(platform.services.storage),
      ...pageRoutes(),
    ],
  })
  server.on('request', door)
  server.on('checkExpectation', door)
  const sockets = openSockets(server, {
    ...shared,
    slots,
    fanout: platform.fanout,
    eventScopes: eventScopesOf(told),
    alive,
    describe,
    async connected(namespace, connection) {
      for (const domain of domains) await domain.connected?.[namespace]?.(node, connection)
    },
  })
  const live: Live = {
    ...sockets.live,
    endSessions(...ended) {
      sockets.live.endSessions(...ended)
      streams.endSessions(ended[0], ended[1])
    },
  }
  const jobs = startJobs(
    node,
    platform.jobs,
    domains.flatMap((domain) => domain.jobs ?? []),
  )
  const looks = { disk: platform.database.isFull, files: uploads.isFull, clock: clock.hasStepped }
  const degraded = await watchDegraded(looks, node.metrics, node.logger)
  const stops = [
    ...(await startDomains(domains, node)),
    node.metrics.onDegraded((part, isAway) => sockets.notice(isAway ? 'degraded' : 'restored', part)),
    degraded.stop,
    clock.stop,
  ]
  let ops: Awaited<ReturnType<typeof openOps>> | null = null
  const close = async () => {
    ops?.drain()
    for (const stop of stops) stop()
    const answered = new Promise((resolve) => server.close(resolve))
    const late = pause(drainMilliseconds)
    const ending = setInterval(endIdle, idleMilliseconds)
    endIdle()
    streams.drain()
    await sockets.drain()
    await Promise.race([answered, late])
    clearInterval(ending)
    server.closeAllConnections()
    await Promise.race([Promise.allSettled([...kernel.underWay]), pause(unheardMilliseconds)])
    await jobs.close()
    node.nodes.stop()
    await node.log.close()
    await ops?.close()
    await uploads.close()
  }
  try {
    const port = await listen(server, config.port, config.host)
    ops = isWorker ? null : await openOps(config.ops, opsOf(node, platform, degraded.parts))
    return {
      url: `http://${reachableAt[config.host] ?? config.host}:${port}`,
      opsUrl: ops?.url ?? '',
      node,
      degraded: degraded.parts,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const reachableAt: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]', '::1': '[::1]' }

const drainMilliseconds = 9_000
const idleMilliseconds = 100
/** So long what nobody waits for any more is given to end. */
const unheardMilliseconds = 2_000
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds).unref())

/** Ends connections without a request. Node counts one as busy that has sent nothing, as browsers open them in advance. */
function idleConnections(server: Server): () => void {
  const opened = new Set<Socket>()
  server.on('connection', (socket) => {
    opened.add(socket)
    socket.once('close', () => opened.delete(socket))
  })
  return () => {
    server.closeIdleConnections()
    for (const socket of opened) if (socket.bytesRead === 0) socket.destroy()
  }
}

/** Of livestreams where nothing configured takes them. */
const usualGraceMilliseconds = 30_000
const clockToleranceMilliseconds = 5_000

/** What to warn of where this machine's clock is wrong; otherwise null. Stored times are those of the store, so nothing breaks. */
function wrongClock(database: Database): string | null {
  const offset = database.clockOffset()
  const seconds = Math.round(Math.abs(offset) / 1_000)
  if (Math.abs(offset) <= clockToleranceMilliseconds) return null
  return `the clock of this machine is ${seconds} s ${offset > 0 ? 'behind' : 'ahead of'} the database's`
}

const opsOf = ({ id, metrics }: Node, { database }: Platform, degraded: Ops['degraded']): Ops => ({
  metrics: metrics.text,
  degraded,
  health: () => ({ node: id }),
  unready: () =>
    database.ping().then(
      () => wrongClock(database),
      () => 'the database does not answer',
    ),
})

const serverLimits = {
  headersTimeout: 5_000,
  /** The largest video, of 50 MB, needs so long at 512 kBit/s. Slower requests are ended by their pace. */
  requestTimeout: 900_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
}

function createNode(config: Config, platform: Platform, clock: ClockWatch): Omit<Node, 'live' | 'jobs' | 'callAs'> {
  const { node: id, database, sessionKeys, kv, peers, hints, services, logger, metrics, deadlineFactor } = platform
  const now = () => database.now()
  const store = timedStore(mongooseLogStore(database.alone), isDuplicate, metrics)
  const nodes = followNodes(store, id, now)
  nodes.onChange(() => kv.sharedBy(nodes.live().size))
  const stats = createNodeStats(logger, metrics, clock)
  const reached = config.failpoint ? failpoint(config.failpoint) : () => undefined
  const log = createRoomLog({
    node: id,
    store,
    records,
    projection,
    hints,
    clock: {
      now,
      elapsed: () => performance.now(),
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
    random: () => randomInt(2 ** 32) / 2 ** 32,
    newId,
    isDuplicate,
    isNeverSent,
    observer: stats,
    ...(config.production ? {} : { check: checkEntry }),
    policy: { deadlineFactor, reached },
  })
  const limits = createLimits(kv, config.rateLimitScale, now)
  return {
    id,
    alone: database.alone,
    isStoreAway: database.isAway,
    log,
    nodes,
    peers,
    stats,
    metrics,
    state: new Map(),
    reached,
    now,
    limits,
    logger,
    settings: {
      ...config,
      sessionKeys,
      streamGraceMilliseconds: config.video?.engine.graceMs ?? usualGraceMilliseconds,
    },
    services,
  }
}

const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
