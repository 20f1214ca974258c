import type { ChildProcess, Serializable } from 'node:child_process'

/** A connection that the primary has accepted and not begun to read. */
interface Accepted {
  close(): void
}

/** What `node:cluster` tells a worker with a connection, and what it hears of it. */
interface HandOff {
  act?: string
  seq?: number
  ack?: number
}

/** What a worker has answered last is read within this time after its end. */
const lastWordsMilliseconds = 100

/**
 * Closes the connections that were handed to a worker which ended before it took them, so that those who called try again.
 * `node:cluster` waits for its answer for ever, and the caller with it.
 */
export function closeUntaken(worker: ChildProcess): void {
  const untaken = new Map<number, Accepted>()
  const send = worker.send.bind(worker) as (message: Serializable, ...rest: unknown[]) => boolean
  worker.send = (message: Serializable, ...rest: unknown[]) => {
    const { act, seq } = message as HandOff
    if (act === 'newconn' && seq !== undefined && rest[0]) untaken.set(seq, rest[0] as Accepted)
    return send(message, ...rest)
  }
  worker.on('internalMessage', ({ ack }: HandOff) => {
    if (ack !== undefined) untaken.delete(ack)
  })
  worker.once('exit', () => {
    setTimeout(() => {
      for (const connection of untaken.values()) connection.close()
    }, lastWordsMilliseconds).unref()
  })
}
