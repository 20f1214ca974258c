import mongoose from 'mongoose'
import { describe, expect, test } from 'vitest'
import { connectMongo } from '#server/ports/database/mongo'
import { Link } from '#test/faults/link'

const uri = process.env.MONGODB_URI ?? ''

/** The way to the database, which is not there yet. */
async function linkAway() {
  const link = await new Link(Number(new URL(uri).port)).open()
  link.isDown = true
  const through = new URL(uri)
  through.port = String(link.port)
  return { link, through: through.href }
}

describe.skipIf(uri === '')('a start', () => {
  test('waits for a database that is away for a moment', async () => {
    const { link, through } = await linkAway()
    let isConnected = false
    const connecting = connectMongo(through).then((database) => {
      isConnected = true
      return database
    })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(isConnected).toBe(false)
    link.isDown = false
    const database = await connecting
    await database.ping()
    await database.close()
    link.close()
  })

  test('on a database that stays away says so', async () => {
    const { link, through } = await linkAway()
    await expect(connectMongo(through, 100)).rejects.toThrow(/^The database that MONGODB_URI names does not answer: /)
    await mongoose.disconnect()
    link.close()
  })
})
