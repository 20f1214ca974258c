import { monitorEventLoopDelay } from 'node:perf_hooks'
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type PrometheusContentType,
  Registry,
} from 'prom-client'

/** The parts that may fail while the rest works, with the consequence of each. */
export const degradations = {
  redis: 'is away: nodes meet on the database alone',
  disk: 'is full: people read, and nobody can write',
  files: 'have no room beside the reserve of the disk: uploads are refused',
  clock: 'was set: rooms with later rows stand still at their time',
} as const
export type Degradation = keyof typeof degradations

export type Metrics = ReturnType<typeof createMetrics>

/** Each look at the event loop wakes an idle process. */
const loopLookMilliseconds = 50

export function createMetrics() {
  const registry = new Registry<PrometheusContentType>()
  // Both monitors begin at the same moment, so that one waking serves both.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopLookMilliseconds })
  const loopDelay = monitorEventLoopDelay({ resolution: loopLookMilliseconds })
  loopDelay.enable()
  const registers = [registry]

  const operations = new Counter({
    name: 'plaza_operations_total',
    help: 'Calls by operation, door and outcome.',
    labelNames: ['operation', 'door', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'plaza_operation_seconds',
    help: 'Time from parse to answer.',
    labelNames: ['operation', 'door'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2, 5],
    registers,
  })
  const sockets = new Gauge({ name: 'plaza_sockets', help: 'Open socket connections.', registers })
  const streams = new Gauge({
    name: 'plaza_streams',
    help: 'Answers that are sequences and go on, over both doors.',
    registers,
  })
  const verdicts = new Counter({
    name: 'plaza_verdicts_total',
    help: 'Verdicts by the step that decided.',
    labelNames: ['step'],
    registers,
  })
  const slow = new Counter({
    name: 'plaza_slow_consumers_total',
    help: 'Sockets closed because they did not read.',
    registers,
  })
  const leftOut = new Counter({
    name: 'plaza_items_left_out_total',
    help: 'Items that were left out of lists, as this version does not know a value in them.',
    labelNames: ['operation'],
    registers,
  })
  const callsInText = new Counter({
    name: 'plaza_model_calls_in_text_total',
    help: 'Calls of tools that models wrote as text, and that were left out of their answers.',
    registers,
  })
  const unhandled = new Counter({ name: 'plaza_unhandled_total', help: 'Errors nobody caught.', registers })
  const lag = new Histogram({
    name: 'plaza_fanout_lag_seconds',
    help: 'From the append of a row, on any node, to its delivery to the sockets of this one.',
    buckets: [0.002, 0.01, 0.05, 0.25, 1, 2, 5, 15],
    registers,
  })
  const healed = new Counter({
    name: 'plaza_gaps_healed_total',
    help: 'Rows that no hint had brought in time, by what found them.',
    labelNames: ['by'],
    registers,
  })
  const hints = new Counter({
    name: 'plaza_hints_total',
    help: 'Rows in hints between nodes: published, received, or late, when they were known already.',
    labelNames: ['how'],
    registers,
  })
  const rooms = new Gauge({ name: 'plaza_rooms_followed', help: 'Rooms whose log is followed.', registers })
  const rows = new Counter({ name: 'plaza_log_rows_total', help: 'Rows appended to the logs of rooms.', registers })
  const batch = new Histogram({
    name: 'plaza_log_batch_rows',
    help: 'Rows that one insert appended.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  })
  const collisions = new Counter({
    name: 'plaza_log_collisions_total',
    help: 'Appends judged again because another node had taken their place.',
    registers,
  })
  const retries = new Counter({
    name: 'plaza_log_retries_total',
    help: 'Inserts tried again because their fate was not known.',
    registers,
  })
  const isolations = new Counter({
    name: 'plaza_log_isolated_total',
    help: 'Rooms whose acts were refused at once because a turn lasted longer than 5 s.',
    registers,
  })
  const quarantines = new Counter({
    name: 'plaza_log_quarantined_total',
    help: 'Rows that this server cannot take, each counted once by each process.',
    registers,
  })
  const listenerFailures = new Counter({
    name: 'plaza_log_listener_failures_total',
    help: 'Deliveries of rows that one listener of this process failed on; the others have heard them.',
    registers,
  })
  const store = new Histogram({
    name: 'plaza_store_seconds',
    help: 'Time the store took to answer, by operation of the log.',
    labelNames: ['operation'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2, 5],
    registers,
  })
  const storeErrors = new Counter({
    name: 'plaza_store_errors_total',
    help: 'Operations of the log that the store refused or did not answer; taken places are none.',
    labelNames: ['operation'],
    registers,
  })
  const degraded = new Gauge({
    name: 'plaza_degraded',
    help: '1 while a part is away or wrong and the rest works: redis, disk, files or clock.',
    labelNames: ['part'],
    aggregator: 'max',
    registers,
  })
  const fallbacks = new Counter({
    name: 'plaza_ratelimit_fallback_total',
    help: 'Calls counted by this process alone because the shared counters did not answer.',
    registers,
  })
  const turnedAway = new Counter({
    name: 'plaza_requests_turned_away_total',
    help: 'Requests over HTTP refused unread, as their address had asked too often.',
    registers,
  })
  const jobs = new Gauge({
    name: 'plaza_jobs',
    help: 'Jobs by queue and state; the outbox is a queue too.',
    labelNames: ['queue', 'state'],
    aggregator: 'max',
    registers,
  })
  const jobRuns = new Counter({
    name: 'plaza_job_runs_total',
    help: 'Runs of jobs by kind and outcome: done, retried, or failed permanently.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const webhookAttempts = new Counter({
    name: 'plaza_webhook_attempts_total',
    help: 'Attempts to send events to webhooks: delivered, retried, or failed permanently.',
    labelNames: ['outcome'],
    registers,
  })
  const webhooksWaiting = new Gauge({
    name: 'plaza_webhooks_waiting',
    help: 'Webhooks that are on and whose receivers did not take what they were sent last.',
    aggregator: 'max',
    registers,
  })
  const webhooksStopped = new Counter({
    name: 'plaza_webhooks_stopped_total',
    help: 'Webhooks that were stopped, by why; those paused by their makers are none.',
    labelNames: ['reason'],
    registers,
  })

  const degradedParts = new Set<Degradation>()
  const degradedListeners = new Set<(part: Degradation, isAway: boolean) => void>()

  return {
    operation(operation: string, door: string, outcome: string, milliseconds: number) {
      operations.inc({ operation, door, outcome })
      seconds.observe({ operation, door }, milliseconds / 1000)
    },
    sockets: (open: number) => sockets.set(open),
    /** Counts a running sequence; returns the function that ends the count. */
    streamBegun(): () => void {
      streams.inc()
      return () => streams.dec()
    },
    verdict: (step: string) => verdicts.inc({ step }),
    slowConsumer: () => slow.inc(),
    itemLeftOut: (operation: string) => leftOut.inc({ operation }),
    callsInText: (count: number) => callsInText.inc(count),
    unhandled: () => unhandled.inc(),
    delivered: (lagMilliseconds: number) => lag.observe(lagMilliseconds / 1000),
    healed: (by: string, count: number) => healed.inc({ by }, count),
    hinted: (how: string, count: number) => hints.inc({ how }, count),
    roomsFollowed: (count: number) => rooms.set(count),
    appended(count: number) {
      rows.inc(count)
      batch.observe(count)
    },
    collided: () => collisions.inc(),
    retried: () => retries.inc(),
    isolated: () => isolations.inc(),
    quarantined: () => quarantines.inc(),
    listenerFailed: () => listenerFailures.inc(),
    stored: (operation: string, milliseconds: number) => store.observe({ operation }, milliseconds / 1000),
    storeFailed: (operation: string) => storeErrors.inc({ operation }),
    degraded(part: Degradation, isAway: boolean) {
      degraded.set({ part }, isAway ? 1 : 0)
      if (degradedParts.has(part) === isAway) return
      if (isAway) degradedParts.add(part)
      else degradedParts.delete(part)
      for (const listener of degradedListeners) listener(part, isAway)
    },
    /** Subscribes to changes of degraded parts; returns the function that unsubscribes. */
    onDegraded(listener: (part: Degradation, isAway: boolean) => void): () => void {
      degradedListeners.add(listener)
      return () => void degradedListeners.delete(listener)
    },
    degradedParts: (): Degradation[] => [...degradedParts],
    /** The longest delay of the event loop since the last call, in milliseconds. */
    takeLoopLag(): number {
      const lag = Math.max(0, loopDelay.max / 1e6 - loopLookMilliseconds)
      loopDelay.reset()
      return lag
    },
    limitFallback: () => fallbacks.inc(),
    turnedAway: () => turnedAway.inc(),
    /** Sets the number of jobs in a state of a queue; `outbox` is a queue too. */
    jobs: (queue: string, state: string, count: number) => jobs.set({ queue, state }, count),
    jobRun: (kind: string, outcome: 'done' | 'retried' | 'failed') => jobRuns.inc({ kind, outcome }),
    webhookAttempt: (outcome: 'delivered' | 'retried' | 'failed') => webhookAttempts.inc({ outcome }),
    webhooksWaiting: (count: number) => webhooksWaiting.set(count),
    webhookStopped: (reason: string) => webhooksStopped.inc({ reason }),
    text: () => registry.metrics(),
    /** The metrics that a worker sends to the primary, which adds them up. */
    figures: (): Promise<object> => registry.getMetricsAsJSON(),
    /** The name and help of each metric. */
    described: () => registry.getMetricsAsArray().map(({ name, help }) => ({ name, help })),
  }
}

export const metricsType = Registry.PROMETHEUS_CONTENT_TYPE

/** The metrics of the primary: the sums of all workers, and its own. */
export function createCrewMetrics() {
  const crew = new Registry<PrometheusContentType>()
  const listening = new Gauge({
    name: 'plaza_workers',
    help: 'Workers that are listening; with --workers alone.',
    registers: [crew],
  })
  const replaced = new Counter({
    name: 'plaza_workers_replaced_total',
    help: 'Workers started because another had ended by itself.',
    registers: [crew],
  })

  return {
    listening: (count: number) => listening.set(count),
    replaced: () => replaced.inc(),
    async text(figures: readonly object[]) {
      const all = AggregatorRegistry.aggregate([...figures])
      return `${await all.metrics()}\n${await crew.metrics()}`
    },
    described: () => crew.getMetricsAsArray().map(({ name, help }) => ({ name, help })),
  }
}
