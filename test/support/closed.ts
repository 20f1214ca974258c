import type { EventEmitter } from 'node:events'

/** Resolves when a connection is closed, also where it broke: `once` would reject then. */
export const closed = (connection: EventEmitter & { destroyed?: boolean }): Promise<void> =>
  new Promise((resolve) => {
    if (connection.destroyed) resolve()
    else connection.once('close', () => resolve())
  })
