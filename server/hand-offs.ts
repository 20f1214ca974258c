import type { ChildProcess, Serializable } from 'node:child_process'

/** A connection that the primary has accepted and not begun to read. */
interface Accepted {
  close(): void
}

/** The message of `node:cluster` to a worker with a connection, and its reply. */
interface HandOff {
  act?: string
  seq?: number
  ack?: number
}

/** What a worker has answered last is read within this time after its end. */
const lastWordsMilliseconds = 100

/**
 * Closes connections that a worker had not taken when it ended, so that clients retry. `node:cluster` would wait for its
 * reply forever.
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
