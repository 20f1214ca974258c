import { expect, test } from 'vitest'
import { isReadingQuery } from '#server/domains/agents/agent-tools/tool'

test.each([
  '{ rooms { name } }',
  'query Rooms { rooms { name } }',
  'query { rooms(search: "mutation { drop }") { name } } # mutation',
  'query { rooms(search: """a "quoted" mutation""") { name } }',
])('%s reads', (document) => {
  expect(isReadingQuery(document)).toBe(true)
})

test.each([
  'mutation { drop }',
  'query { rooms } mutation { drop }',
  'subscription { rooms }',
  'query { rooms }}',
  'query { rooms(search: "open) }',
  // A block string holds its own end, escaped: who reads it otherwise sees a string where a mutation is.
  'fragment F on Mutation { a(x: """\\""" """) } mutation { ...F ...G } fragment G on Mutation { b(x: """ """) }',
])('%s does not only read', (document) => {
  expect(isReadingQuery(document)).toBe(false)
})
