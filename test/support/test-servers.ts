import { randomUUID } from 'node:crypto'
import { findChromium } from '../../scripts/test-servers.mjs'

export { freePort } from '../../scripts/test-servers.mjs'

/** The store of this run: the same tests run on both. */
const storeUnderTest = process.env.PLAZA_TEST_STORE === 'mongodb' ? 'mongodb' : 'embedded'

/** How many nodes serve each test; more than one only on MongoDB. */
export const nodesUnderTest = Number(process.env.PLAZA_TEST_NODES ?? 1)

/** The Redis that all tests of a run share; each installation keeps to channels and keys of its own. */
export const redisUnderTest = process.env.PLAZA_TEST_REDIS ? process.env.REDIS_URL : undefined

/** `npm test` prints why tests in a browser cannot run here. */
export const chromium = findChromium()

/** Address of an empty database that nobody shares; two nodes of one test take the same. Undefined on the embedded store. */
export function freshDatabaseUri(): string | undefined {
  if (storeUnderTest === 'embedded') return undefined
  const server = process.env.MONGODB_URI
  if (!server) throw new Error('These tests need a MongoDB: run them by `npm test`, or set MONGODB_URI.')
  const uri = new URL(server)
  uri.pathname = `/${process.env.PLAZA_TEST_DATABASES ?? 'plaza_test_'}${randomUUID().slice(0, 13)}`
  return uri.href
}
