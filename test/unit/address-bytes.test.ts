import { expect, test } from 'vitest'
import { budgets } from '#server/kernel/limits/budgets'
import { spendBytes } from '#server/kernel/sockets/meter'

test('the connections of an address share one budget of bytes, and another address has its own', () => {
  const node = { limits: { scale: 1 }, state: new Map() } as unknown as Parameters<typeof spendBytes>[0]
  const { most } = budgets.bytesOfAddress
  expect(spendBytes(node, '198.51.100.1', most + 1)).toBe(false)
  expect(spendBytes(node, '198.51.100.2', most)).toBe(true)
})
