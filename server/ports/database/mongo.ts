import { setTimeout as pause } from 'node:timers/promises'
import mongoose from 'mongoose'
import { buildIndexes, type Database, isUnavailable, NoDatabase, readInstallation, setUpMongoose } from './port.ts'

const CLOCK_INTERVAL_MS = 30_000
const PROBE_INTERVAL_MS = 500
const PROBE_DEADLINE_MS = 1_000
const START_TIMEOUT_MS = 30_000
const LOOK_AGAIN_MS = 250

interface StartOptions {
  startMilliseconds?: number
  /** Gets one sentence, once, when the start waits for the database. */
  tell?(sentence: string): void
}

/**
 * Waits for a database that is away for a moment. Throws NoDatabase if it stays away, its name is unknown, or it refuses us.
 */
export async function connectMongo(uri: string, options: StartOptions = {}): Promise<Database> {
  setUpMongoose()
  const patience = patienceFor(options)
  await patience(() => connect(uri))
  const { installation, clock } = await patience(async () => ({
    installation: await readInstallation(),
    clock: await measureClock(),
  }))
  let measured = clock
  const timer = setInterval(() => {
    measureClock().then(
      (again) => {
        measured = again
      },
      () => undefined,
    )
  }, CLOCK_INTERVAL_MS)
  timer.unref()
  // A separate connection, as one that waits behind other work would report a busy database as lost.
  const prober = new mongoose.mongo.MongoClient(uri, { maxPoolSize: 1, serverSelectionTimeoutMS: 2000 })
  const ping = () => answersInTime(prober)
  const health = watchHealth(ping)
  return {
    kind: 'mongodb',
    alone: false,
    name: `MongoDB ${mongoose.connection.host}:${mongoose.connection.port}/${mongoose.connection.name}`,
    installation,
    now: () => Math.round(performance.now() + measured.epoch),
    clockOffset: () => measured.offset,
    buildIndexes: () => patienceFor(options)(buildIndexes),
    ping,
    isAway: health.isAway,
    isFull: () => false,
    close: async () => {
      clearInterval(timer)
      health.stop()
      await prober.close()
      await mongoose.disconnect()
    },
  }
}

/**
 * Reads see the writes of a majority, and writes wait for a majority's disks. Others are lost when another node takes over.
 * Each is given in every spelling, to override the address.
 */
const concerns = {
  readConcern: { level: 'majority' },
  readConcernLevel: 'majority',
  readPreference: 'primary',
  readPreferenceTags: [],
  w: 'majority',
  journal: true,
  writeConcern: { w: 'majority', journal: true },
} as const satisfies mongoose.mongo.MongoClientOptions

const connect = (uri: string) =>
  mongoose.connect(uri, {
    serverSelectionTimeoutMS: 2000,
    socketTimeoutMS: 5000,
    waitQueueTimeoutMS: 5000,
    retryWrites: true,
    ...concerns,
  })

/** Retries while the database is away, until the start times out. Errors that no waiting helps end it at once. */
function patienceFor({ startMilliseconds = START_TIMEOUT_MS, tell = () => undefined }: StartOptions) {
  const end = performance.now() + startMilliseconds
  let isTold = false
  return async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        const isAway = error instanceof mongoose.Error.MongooseServerSelectionError || isUnavailable(error)
        if (!isAway || isUnknown(error)) throw noDatabase(error, 'MONGODB_URI cannot be used')
        if (performance.now() > end) throw noDatabase(error, silent)
        if (!isTold) tell(`${silent}, and is waited for, for ${startMilliseconds / 1_000} seconds: ${reasonOf(error)}.`)
        isTold = true
        await pause(LOOK_AGAIN_MS)
      }
    }
  }
}
const silent = 'The database that MONGODB_URI names does not answer'

/** Does nobody know the name of any of its machines? One that cannot be asked for just now (`EAI_AGAIN`) may be known later. */
function isUnknown(error: unknown): boolean {
  if (!(error instanceof mongoose.Error.MongooseServerSelectionError)) return false
  const { reason } = error as { reason?: { servers: ReadonlyMap<string, { error: Error | null }> } }
  const servers = reason?.servers ?? new Map()
  return servers.size > 0 && [...servers.values()].every((each) => each.error?.message.includes('ENOTFOUND'))
}

/** A fault of ours keeps its trace. */
function noDatabase(cause: unknown, what: string): unknown {
  const isItsOwn = cause instanceof Error && (cause.name.startsWith('Mongo') || 'code' in cause)
  return isItsOwn ? new NoDatabase(`${what}: ${reasonOf(cause)}.`, { cause }) : cause
}

const reasonOf = (error: unknown): string =>
  String((error as Error).message)
    .replace(/\s+/g, ' ')
    .replace(/\.$/, '')

/** Where this process itself was busy past the deadline, an answer that lies ready still counts. */
async function answersInTime(prober: mongoose.mongo.MongoClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error('The database does not answer.'))
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), PROBE_DEADLINE_MS)
  })
  await Promise.race([prober.db().admin().ping(), late]).finally(() => clearTimeout(timer))
}

/** Asks now and then whether the database is there, so that nobody has to find out by waiting. */
function watchHealth(ping: () => Promise<void>) {
  let isAway = false
  let isAsking = false
  const probe = async () => {
    if (isAsking) return
    isAsking = true
    isAway = await ping().then(
      () => false,
      () => true,
    )
    isAsking = false
  }
  const timer = setInterval(() => void probe(), PROBE_INTERVAL_MS).unref()
  return { isAway: () => isAway, stop: () => clearInterval(timer) }
}

/**
 * This process's start by the store's clock, and the lead of that clock over ours. The answer counts as given halfway between
 * question and receipt. A monotonic clock counts in between, so that steps of our clock do not matter.
 */
async function measureClock(): Promise<{ epoch: number; offset: number }> {
  const asked = performance.now()
  const { localTime } = await admin().command({ hello: 1 })
  const half = (performance.now() - asked) / 2
  return { epoch: Number(localTime) - asked - half, offset: Math.round(Number(localTime) - (Date.now() - half)) }
}

function admin() {
  const { db } = mongoose.connection
  if (!db) throw new Error('The database is not connected.')
  return db.admin()
}
