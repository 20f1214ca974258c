import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '#server/config'
import { connectEmbedded } from '#server/ports/database/embedded'
import { connectMongo } from '#server/ports/database/mongo'
import type { Database } from '#server/ports/database/port'
import type { Part } from './part.ts'

export const openDatabase = ({ mongodbUri, dataDirectory }: Config): Promise<Database> =>
  mongodbUri ? connectMongo(mongodbUri, { tell: console.error }) : connectEmbedded(dataDirectory)

const giveUpMilliseconds = 10_000

/** Closes the store if the work fails. A process that exits during a write may hang forever. */
export async function orClosed<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await Promise.race([database.close(), pause(giveUpMilliseconds)]).catch(() => undefined)
    throw error
  }
}

export const databasePart = ({ mongodbUri }: Config, { name }: Database): Part => ({
  part: 'database',
  adapter: name,
  why: mongodbUri ? 'MONGODB_URI is set' : 'MONGODB_URI is not set: one process, all on disk',
})

/** Copies of the store, for the tools beside the server. */
export * as copies from '#server/ports/database/copies/index'
