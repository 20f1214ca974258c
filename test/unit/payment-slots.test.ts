import { expect, test } from 'vitest'
import { takeQuestionSlots } from '#server/domains/payments/paid-chat/chat'
import type { Node } from '#server/kernel/context'

test('T31: an address has 64 paid questions at a time, an agent 128, and each slot is free again once it is given back', () => {
  const node = { state: new Map() } as unknown as Node
  const refused = expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 1 })
  const taken = (count: number, agent: string, address: string) =>
    Array.from({ length: count }, () => takeQuestionSlots(node, agent, address))
  const first = taken(64, 'one', '192.0.2.1')
  expect(() => takeQuestionSlots(node, 'other', '192.0.2.1')).toThrow(refused)
  taken(64, 'one', '192.0.2.2')
  expect(() => takeQuestionSlots(node, 'one', '192.0.2.3')).toThrow(refused)
  takeQuestionSlots(node, 'other', '192.0.2.3')
  first[0]?.()
  first[0]?.()
  takeQuestionSlots(node, 'one', '192.0.2.3')
  expect(() => takeQuestionSlots(node, 'one', '192.0.2.3')).toThrow(refused)
})
