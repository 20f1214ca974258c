import { test } from 'vitest'
import { nodesUnderTest } from './test-servers.ts'

const none = Object.assign(() => undefined, { each: () => () => undefined })

/** A test that a second node and another store cannot make differ: it is registered where there is one node, and nowhere else. */
export const solo: typeof test = nodesUnderTest > 1 ? (none as unknown as typeof test) : test
