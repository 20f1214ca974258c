import mongoose from 'mongoose'
import { expect, test } from 'vitest'
import { isUnavailable } from '#server/ports/database/port'

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
