import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { seal, unseal } from '#server/kernel/seal'

const key = (id: string) => ({ id, secret: new Uint8Array(randomBytes(32)) })
const [old, newest] = [key('2025'), key('2026.b')]

test('what was sealed is read by who holds the key, also an older one, and nobody else', () => {
  const sealed = seal([old], 'Your code is 123456 – für dich')
  expect(sealed).not.toContain('123456')
  expect(unseal([newest, old], sealed)).toBe('Your code is 123456 – für dich')
  expect(unseal([newest, old], seal([newest, old], ''))).toBe('')
  expect(() => unseal([newest], sealed)).toThrow('gone')
  expect(() => unseal([{ ...old, secret: newest.secret }], sealed)).toThrow()
})

test('no two are alike, and none can be changed', () => {
  const sealed = seal([old], 'the same')
  expect(seal([old], 'the same')).not.toBe(sealed)
  for (const at of [5, 12, 24, sealed.length - 2]) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    expect(() => unseal([old], changed)).toThrow()
  }
  expect(() => unseal([old], sealed.slice(0, -4))).toThrow()
  expect(() => unseal([old], '2025.')).toThrow()
})
