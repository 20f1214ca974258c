import { test } from 'vitest'
import { nodesUnderTest } from './test-servers.ts'

const none = Object.assign(() => undefined, { each: () => () => undefined })

/** A test that neither a second node nor another store can change. It is registered for one node alone. */
export const solo: typeof test = nodesUnderTest > 1 ? (none as unknown as typeof test) : test
