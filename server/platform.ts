import { randomUUID } from 'node:crypto'
import type { Hints } from '#server/log/types'
import type { Config } from './config.ts'
import type { Services } from './kernel/context.ts'
import { createLogger, type Logger } from './kernel/logger.ts'
import { connectEmbedded } from './ports/database/embedded.ts'
import { connectMongo } from './ports/database/mongo.ts'
import type { Database } from './ports/database/port.ts'
import { memoryKv } from './ports/kv/memory.ts'
import type { Kv } from './ports/kv/port.ts'

/** What a server stands on: one adapter for each port. */
export interface Platform {
  node: string
  database: Database
  kv: Kv
  hints: Hints
  services: Services
  logger: Logger
  /** What is real, what is a stand-in, and why. */
  parts: readonly Part[]
  close(): Promise<void>
}

export interface Part {
  part: string
  adapter: string
  why: string
}

/** The only place that picks adapters. */
export async function openPlatform(config: Config): Promise<Platform> {
  const database = config.mongodbUri
    ? await connectMongo(config.mongodbUri)
    : await connectEmbedded(config.dataDirectory)
  const kv = memoryKv()
  return {
    node: randomUUID().slice(0, 8),
    database,
    kv,
    hints: noHints,
    services: { mail: null, sms: null, humanProofs: null, partnerTokens: null },
    logger: createLogger(config.logLevel),
    parts: [
      {
        part: 'database',
        adapter: database.name,
        why: config.mongodbUri ? 'MONGODB_URI is set' : 'MONGODB_URI is not set: one process, all on disk',
      },
      { part: 'limits', adapter: 'memory', why: 'each process counts for itself' },
      {
        part: 'nodes',
        adapter: database.alone ? 'this one' : 'found by polling',
        why: database.alone ? 'the embedded store has one process' : 'nodes meet on the database',
      },
    ],
    async close() {
      await kv.close()
      await database.close()
    },
  }
}

const noHints: Hints = { publish() {}, subscribe() {} }
