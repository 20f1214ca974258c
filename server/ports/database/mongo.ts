import mongoose from 'mongoose'
import { buildIndexes, type Database, readInstallation, setUpMongoose } from './port.ts'

const CLOCK_INTERVAL_MS = 30_000

export async function connectMongo(uri: string): Promise<Database> {
  setUpMongoose()
  await mongoose.connect(uri, {
    serverSelectionTimeoutMS: 2000,
    socketTimeoutMS: 5000,
    retryWrites: true,
    writeConcern: { w: 'majority', journal: true },
  })
  const installation = await readInstallation()
  let offset = await clockOffset()
  const timer = setInterval(() => {
    clockOffset().then(
      (measured) => {
        offset = measured
      },
      () => undefined,
    )
  }, CLOCK_INTERVAL_MS)
  timer.unref()
  return {
    kind: 'mongodb',
    alone: false,
    name: `MongoDB ${mongoose.connection.host}:${mongoose.connection.port}/${mongoose.connection.name}`,
    installation,
    now: () => Date.now() + offset,
    buildIndexes,
    ping: async () => {
      await admin().ping()
    },
    close: async () => {
      clearInterval(timer)
      await mongoose.disconnect()
    },
  }
}

/** How far the store's clock is ahead of ours, taking its answer to be halfway between question and receipt. */
async function clockOffset(): Promise<number> {
  const asked = Date.now()
  const { localTime } = await admin().command({ hello: 1 })
  const received = Date.now()
  return Math.round(Number(localTime) - (asked + received) / 2)
}

function admin() {
  const { db } = mongoose.connection
  if (!db) throw new Error('The database is not connected.')
  return db.admin()
}
