import { setTimeout as pause } from 'node:timers/promises'
import mongoose from 'mongoose'
import { buildIndexes, type Database, isUnavailable, NoDatabase, readInstallation, setUpMongoose } from './port.ts'

const CLOCK_INTERVAL_MS = 30_000
const PROBE_INTERVAL_MS = 500
const PROBE_DEADLINE_MS = 1_000
const START_TIMEOUT_MS = 30_000
const LOOK_AGAIN_MS = 250

/** A database that is away for a moment is waited for; throws NoDatabase where it stays away or will not have us. */
export async function connectMongo(uri: string, startMilliseconds = START_TIMEOUT_MS): Promise<Database> {
  setUpMongoose()
  await connectBefore(uri, performance.now() + startMilliseconds)
  const installation = await readInstallation()
  let measured = await measureClock()
  const timer = setInterval(() => {
    measureClock().then(
      (again) => {
        measured = again
      },
      () => undefined,
    )
  }, CLOCK_INTERVAL_MS)
  timer.unref()
  // A connection of its own: one that waits in line with everybody's work would take a busy database for a lost one.
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
    buildIndexes: () => retryUntil(buildIndexes, performance.now() + startMilliseconds),
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
 * What is read is what a majority has, and what is written is there when a majority has it on disk: anything less is gone when
 * another node of the database takes over. Each in every spelling, so that it stands above that of the address.
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

async function connectBefore(uri: string, end: number): Promise<void> {
  for (;;) {
    try {
      await mongoose.connect(uri, {
        serverSelectionTimeoutMS: 2000,
        socketTimeoutMS: 5000,
        waitQueueTimeoutMS: 5000,
        retryWrites: true,
        ...concerns,
      })
      return
    } catch (error) {
      const isAway = error instanceof mongoose.Error.MongooseServerSelectionError
      if (isAway && performance.now() <= end) await pause(LOOK_AGAIN_MS)
      else throw noDatabase(error, isAway)
    }
  }
}

/** Does the work again where the database goes away in the middle of it. */
async function retryUntil(work: () => Promise<void>, end: number): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      if (performance.now() > end) throw noDatabase(error, true)
      await pause(LOOK_AGAIN_MS)
    }
  }
}

function noDatabase(cause: unknown, isAway: boolean): unknown {
  if (!(cause instanceof Error)) return cause
  const what = isAway ? 'The database that MONGODB_URI names does not answer' : 'MONGODB_URI cannot be used'
  return new NoDatabase(`${what}: ${cause.message}`, { cause })
}

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
 * When this process began by the store's clock, and how far that clock is ahead of ours; its answer is taken to be halfway
 * between question and receipt. In between time is told by what only rises, so that a step of our clock is none of the store's.
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
