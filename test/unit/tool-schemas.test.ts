import { describe, expect, test } from 'vitest'
import { checkArguments, tidiedSchema } from '#server/domains/agents/agent-tools/tool'

const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } }
const depthOf = (schema: unknown): number => {
  const { properties } = schema as { properties?: { a?: unknown } }
  return properties?.a === undefined ? 0 : 1 + depthOf(properties.a)
}

describe('the schema of a tool', () => {
  test('T28: is taken to a depth of eight, and without names of the prototype', () => {
    expect(depthOf(tidiedSchema(nested(30) as never))).toBeLessThanOrEqual(9)
    expect(depthOf(tidiedSchema(nested(5) as never))).toBe(5)
    const given = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{},"prototype":{},"a":{"type":"string"}}}',
    )
    expect(Object.keys((tidiedSchema(given) as { properties: object }).properties)).toEqual(['a'])
  })

  test('T65: is none where it is too long, before or after it was tidied', () => {
    const described = (length: number) => ({ type: 'object', properties: {}, title: 'x'.repeat(length) })
    expect(tidiedSchema(described(63_000))).not.toBeNull()
    expect(tidiedSchema(described(64_000))).toBeNull()
    const many = (count: number) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`property_${at}`, { type: 'string' }])),
    })
    expect(tidiedSchema(many(100))).not.toBeNull()
    expect(tidiedSchema(many(400))).toBeNull()
  })

  test('T65: takes arguments of 16,000 characters at the most', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const given = (length: number) => JSON.stringify({ a: 'x'.repeat(length) })
    expect(checkArguments(schema, given(15_990))).toMatchObject({ given: { a: expect.any(String) } })
    expect(checkArguments(schema, given(16_000))).toEqual({ problem: 'The arguments are too long' })
    expect(checkArguments(schema, '')).toEqual({ given: {} })
  })
})
