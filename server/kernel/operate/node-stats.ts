import type { LogStore, Observer } from '#server/log/types'
import type { ClockWatch } from './clock-watch.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'

/** The counts of one node since the last read. */
export interface NodeStats extends Observer {
  take(): { messages: number; rooms: number; lagMilliseconds: number; healed: number }
}

/** Counts for the metrics, and separately since the last read. */
export function createNodeStats(logger: Logger, metrics: Metrics, clock: Pick<ClockWatch, 'saw'>): NodeStats {
  let counted = { messages: 0, lagMilliseconds: 0, healed: 0 }
  let rooms = 0
  return {
    appended(rows) {
      metrics.appended(rows.length)
      for (const { n, at } of rows) {
        clock.saw(at)
        if (n !== null) counted.messages++
      }
    },
    delivered(lagMilliseconds) {
      metrics.delivered(lagMilliseconds)
      counted.lagMilliseconds = Math.max(counted.lagMilliseconds, lagMilliseconds)
    },
    healed(by, rows) {
      metrics.healed(by, rows)
      counted.healed += rows
    },
    hinted: metrics.hinted,
    collided: metrics.collided,
    retried: metrics.retried,
    isolated(room) {
      metrics.isolated()
      logger.error({ room }, 'a turn does not end: its room is isolated')
    },
    quarantined({ room, seq, type, v }, error) {
      metrics.quarantined()
      logger.error({ room, seq, type, v, error }, 'a row cannot be taken: it is shown as an event of no known type')
    },
    failed(room, error) {
      metrics.listenerFailed()
      logger.error({ room, error }, 'a listener failed on rows that the others have heard')
    },
    released: (room, milliseconds) => logger.warn({ room, milliseconds }, 'a turn has ended: its room goes on'),
    follows(count) {
      metrics.roomsFollowed(count)
      rooms = count
    },
    take() {
      const taken = { ...counted, rooms }
      counted = { messages: 0, lagMilliseconds: 0, healed: 0 }
      return taken
    },
  }
}

/** The same store, with the time of each operation measured. */
export function timedStore(store: LogStore, isExpected: (error: unknown) => boolean, metrics: Metrics): LogStore {
  const time =
    <Given extends unknown[], Result>(operation: string, run: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      const began = performance.now()
      try {
        return await run(...given)
      } catch (error) {
        if (!isExpected(error)) metrics.storeFailed(operation)
        throw error
      } finally {
        metrics.stored(operation, performance.now() - began)
      }
    }
  return {
    alone: store.alone,
    insert: time('insert', store.insert),
    read: time('read', store.read),
    byCid: time('find_key', store.byCid),
    raiseHeads: time('raise_heads', store.raiseHeads),
    headOf: time('read_head', store.headOf),
    headsMovedSince: time('poll_heads', store.headsMovedSince),
    advanced: time('compare', store.advanced),
    writeLeases: time('write_leases', store.writeLeases),
    leasesOf: time('read_leases', store.leasesOf),
  }
}
