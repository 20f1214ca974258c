import { expect, test } from 'vitest'
import { findings, sourcesOf } from './sources.ts'

test('T59: nothing a person could guess: ids, tokens and nonces come from the system, never from Math.random', () => {
  expect(findings(sourcesOf('server', 'client/sdk', 'shared'), /\bMath\s*\.\s*random\b/g)).toEqual([])
})
