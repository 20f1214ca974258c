import mongoose from 'mongoose'
import { afterEach, describe, expect, test } from 'vitest'
import { refusalFrom } from '#server/kernel/http/deadline'
import { connectMongo } from '#server/ports/database/mongo'
import { isUnavailable, NoDatabase } from '#server/ports/database/port'
import { refusingDatabase } from '#test/support/refusing-database'

const { MongoBulkWriteError, MongoNetworkError } = mongoose.mongo
const nothingWritten = Object.create(null)
const inBulk = (error: ConstructorParameters<typeof MongoBulkWriteError>[0]) =>
  new MongoBulkWriteError(error, nothingWritten)

test('P13: a connection that is lost while writing in bulk is a store that is away', () => {
  expect(isUnavailable(inBulk(new MongoNetworkError('connection closed')))).toBe(true)
})

test.each(['MongoClientClosedError', 'MongoExpiredSessionError', 'MongoTopologyClosedError', 'MongoPoolClosedError'])(
  'P11: what is cut short by a stop is a store that is away: %s',
  (name) => {
    expect(isUnavailable(Object.assign(new Error('closed'), { name }))).toBe(true)
  },
)

test.each(['EPIPE', 'ECONNRESET'])('P13: so is what the system says of its socket: %s', (code) => {
  expect(isUnavailable(Object.assign(new Error('This socket has been ended by the other party'), { code }))).toBe(true)
})

test('what a store refuses in bulk is no store that is away', () => {
  expect(isUnavailable(inBulk({ message: 'E11000 duplicate key', code: 11_000, writeErrors: [] }))).toBe(false)
})

test.each([
  ['mongodb://127.0.0.1:9/plaza?w=many&tls=perhaps', /^MONGODB_URI cannot be used: .*tls/],
  ['mongodb://127.0.0.1:9/plaza', /^The database that MONGODB_URI names does not answer: .*ECONNREFUSED/],
])('a start without a database says why in a sentence: %s', async (uri, sentence) => {
  const failed = await connectMongo(uri, { startMilliseconds: 0 }).catch((error: unknown) => error)
  await mongoose.disconnect()
  expect(failed).toBeInstanceOf(NoDatabase)
  expect((failed as Error).message).toMatch(sentence)
})

describe('N75: a start on MongoDB', () => {
  const opened: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    await mongoose.disconnect()
    for (const one of opened.splice(0)) await one.close()
  })

  const startOn = async (uri: string, startMilliseconds = 30_000) => {
    const told: string[] = []
    const began = performance.now()
    const failed = await connectMongo(uri, { startMilliseconds, tell: (sentence) => told.push(sentence) }).catch(
      (error: unknown) => error,
    )
    expect(failed).toBeInstanceOf(NoDatabase)
    return { told, complaint: (failed as Error).message, milliseconds: performance.now() - began }
  }

  test('says once, and at once, that a database that is away is waited for, and ends when the time is over', async () => {
    const { told, complaint } = await startOn('mongodb://127.0.0.1:9/plaza', 4_000)
    expect(told).toEqual([
      'The database that MONGODB_URI names does not answer, and is waited for, for 4 seconds: connect ECONNREFUSED 127.0.0.1:9.',
    ])
    expect(complaint).toBe('The database that MONGODB_URI names does not answer: connect ECONNREFUSED 127.0.0.1:9.')
  }, 60_000)

  test('waits for no name that nobody knows', async () => {
    const { told, complaint, milliseconds } = await startOn('mongodb://nowhere.invalid/plaza')
    expect(told).toEqual([])
    expect(complaint).toBe('MONGODB_URI cannot be used: getaddrinfo ENOTFOUND nowhere.invalid.')
    expect(milliseconds).toBeLessThan(20_000)
  }, 60_000)

  test.each([
    [
      'a password that is wrong',
      { code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' },
      'u:p@',
    ],
    ['rights that are not given', { code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on plaza' }, ''],
  ])(
    'waits for no %s',
    async (_, refusal, account) => {
      const database = await refusingDatabase(refusal)
      opened.push(database)
      const { told, complaint, milliseconds } = await startOn(`mongodb://${account}${database.host}/plaza`)
      expect(told).toEqual([])
      expect(complaint).toBe(`MONGODB_URI cannot be used: ${refusal.errmsg.replace(/\.$/, '')}.`)
      expect(milliseconds).toBeLessThan(20_000)
    },
    60_000,
  )
})

test('M34: what the database will not do is DATABASE_ERROR, what is away SERVICE_UNAVAILABLE, and a fault of ours neither', () => {
  const { MongoServerError } = mongoose.mongo
  const refused = [
    new MongoServerError({ code: 10_334, errmsg: 'too large' }),
    inBulk({ message: 'no', code: 14, writeErrors: [] }),
  ]
  for (const error of refused) {
    const refusal = refusalFrom(error)
    expect([refusal?.code, refusal?.status, refusal?.message]).toEqual([
      'DATABASE_ERROR',
      500,
      'The database could not do this.',
    ])
  }
  expect(refusalFrom(new MongoNetworkError('connection closed'))?.code).toBe('SERVICE_UNAVAILABLE')
  expect(refusalFrom(new TypeError('not a function'))).toBeNull()
})

test.each(['ENOSPC', 'EIO'])('an embedded store that cannot write (%s) is away, not at fault', (code) => {
  const error = Object.assign(new Error('The write was not stored'), { code })
  expect(refusalFrom(error)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 1 })
})
