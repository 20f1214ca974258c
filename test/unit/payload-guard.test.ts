import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { guardPayload } from '#server/kernel/http/http-guards'

const nested = (depth: number): unknown => (depth === 0 ? 1 : { in: nested(depth - 1) })
const refusal = expect.objectContaining({ code: 'VALIDATION_ERROR' })
const refused = (value: unknown) => {
  try {
    guardPayload(value)
    return null
  } catch (error) {
    return error
  }
}

describe('what no schema should have to look at', () => {
  it('is refused: too deep, too much, a prototype, bytes', () => {
    expect(refused(nested(8))).toBeNull()
    expect(refused(nested(9))).toEqual(refusal)
    expect(refused(Array(2_000).fill(1))).toBeNull()
    expect(refused(Array(2_001).fill(1))).toEqual(refusal)
    expect(refused([Array(1_500).fill(1), Array(1_500).fill(1)])).toEqual(refusal)
    expect(refused(JSON.parse('{"a":{"__proto__":1}}'))).toEqual(refusal)
    expect(refused({ a: new Uint8Array(4) })).toEqual(refusal)
  })

  it('is never longer as JSON than it is said to be at most', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        fc.pre(refused(value) === null)
        expect(guardPayload(value)).toBeGreaterThanOrEqual(JSON.stringify(value).length)
      }),
    )
    expect(guardPayload({ a: '\u0001'.repeat(100) })).toBeGreaterThanOrEqual(608)
  })
})
