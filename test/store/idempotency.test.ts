import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runOnce } from '#server/kernel/work/idempotency'
import { connectEmbedded } from '#server/ports/database/embedded'
import { connectMongo } from '#server/ports/database/mongo'
import type { Database } from '#server/ports/database/port'
import { AppError } from '#shared/errors'

const uri = process.env.MONGODB_URI
let database: Database
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-answers-'))
  const url = new URL(uri ?? 'mongodb://none')
  url.pathname = `/${process.env.PLAZA_TEST_DATABASES ?? 'plaza_test_'}answers_${process.pid}`
  database = uri ? await connectMongo(url.href) : await connectEmbedded(directory)
  await database.buildIndexes()
})
afterAll(async () => {
  if (uri) await mongoose.connection.db?.dropDatabase()
  await database.close()
  await rm(directory, { recursive: true })
})

const settings = { sessionKeys: [{ id: 'one', secret: new Uint8Array(32) }] }
const LEASE = 5_000
/** A node whose clock is ahead, or runs faster. */
const nodeAt = (ahead: number, speed = 1) => ({ settings, now: () => start + ahead + (Date.now() - start) * speed })
const start = Date.now()

let keys = 0
const newKey = () => ({ account: 'ada', operation: 'groups.create', key: `key ${++keys}` })
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const never = () => new Promise<never>(() => {})

describe('M48: the answer to a key', () => {
  test('is not stored if it is a refusal: the next call runs at once, with any input', async () => {
    const key = newKey()
    const refused = runOnce(nodeAt(0), key, 'one', () => Promise.reject(new AppError('FORBIDDEN')))
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const began = performance.now()
    expect(await runOnce(nodeAt(0), key, 'another', async () => 'done')).toBe('done')
    expect(performance.now() - began).toBeLessThan(LEASE / 2)
  })

  test('is looked up again if the outcome is unknown, at once and under the same id', async () => {
    const key = newKey()
    const ids: string[] = []
    const failing = runOnce(nodeAt(0), key, 'input', async (id) => {
      ids.push(id)
      throw new Error('The store is away.')
    })
    await expect(failing).rejects.toThrow('away')
    const began = performance.now()
    await runOnce(nodeAt(0), key, 'input', async (id) => ids.push(id))
    expect(performance.now() - began).toBeLessThan(LEASE / 2)
    expect(ids[1]).toBe(ids[0])
  })

  test('is awaited while the node that works on it may be alive', async () => {
    const key = newKey()
    let finish: (answer: string) => void = () => {}
    const first = runOnce(nodeAt(0), key, 'input', () => new Promise<string>((resolve) => (finish = resolve)))
    await pause(50)
    const second = runOnce(nodeAt(LEASE - 1_000), key, 'input', async () => 'done twice')
    await pause(200)
    finish('done once')
    expect(await Promise.all([first, second])).toEqual(['done once', 'done once'])
  })

  test('is created once by the nodes that find the former worker dead, under the same id', async () => {
    const key = newKey()
    const ids: string[] = []
    void runOnce(nodeAt(0), key, 'input', (id) => {
      ids.push(id)
      return never()
    })
    await expect.poll(() => ids).toHaveLength(1)
    const later = nodeAt(LEASE + 500)
    const takers = Array.from({ length: 16 }, () =>
      runOnce(later, key, 'input', async (id) => {
        ids.push(id)
        await pause(20)
        return 'done'
      }),
    )
    expect(await Promise.all(takers)).toEqual(Array(16).fill('done'))
    expect(ids).toEqual([ids[0], ids[0]])
  })

  test('is that of the node that took over, even if the first one finishes later', async () => {
    const key = newKey()
    let finish: (answer: string) => void = () => {}
    const first = runOnce(nodeAt(0), key, 'input', () => new Promise<string>((resolve) => (finish = resolve)))
    await pause(50)
    expect(await runOnce(nodeAt(LEASE + 500), key, 'input', async () => 'by the second')).toBe('by the second')
    finish('by the first')
    await first
    expect(await runOnce(nodeAt(0), key, 'input', async () => 'by a third')).toBe('by the second')
  })

  test('is not created twice, however long the working node takes', async () => {
    const key = newKey()
    const fast = nodeAt(0, 2)
    const first = runOnce(fast, key, 'input', async () => {
      await pause(3_300)
      return 'done once'
    })
    await pause(2_900)
    const second = runOnce(fast, key, 'input', async () => 'done twice')
    expect(await Promise.all([first, second])).toEqual(['done once', 'done once'])
  })
})
