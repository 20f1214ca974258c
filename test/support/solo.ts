import { test } from 'vitest'
import { nodesUnderTest } from './test-servers.ts'

const none = Object.assign(() => undefined, { each: () => () => undefined })

/** A test that neither a second node nor another store can change. It is registered for one node alone. */
export const solo: typeof test = nodesUnderTest > 1 ? (none as unknown as typeof test) : test

/** A test of what nodes tell each other. It is registered for several nodes alone. */
export const acrossNodes: typeof test = nodesUnderTest > 1 ? test : (none as unknown as typeof test)
