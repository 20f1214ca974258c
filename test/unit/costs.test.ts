import { expect, test } from 'vitest'
import type { Node } from '#server/kernel/context'
import { budgets, runCostlyCall } from '#server/kernel/limits/budgets'

test('O04: of one address few costly calls are worked on at once, and those of another wait for none of them', async () => {
  const node = { state: new Map(), limits: { scale: 1 } } as unknown as Node
  const begun: string[] = []
  const ends: (() => void)[] = []
  const call = (ip: string) =>
    runCostlyCall(node, ip, () => {
      begun.push(ip)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const most = budgets.costlyAtOnce.most
  const calls = Array.from({ length: most + 1 }, () => call('192.0.2.1'))
  calls.push(call('192.0.2.2'))
  expect(begun).toEqual([...Array(most).fill('192.0.2.1'), '192.0.2.2'])
  ends[0]?.()
  await calls[0]
  await expect.poll(() => begun).toHaveLength(most + 2)
  for (const end of ends) end()
  await Promise.all(calls)
})
