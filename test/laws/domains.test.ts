import { expect, test } from 'vitest'
import { bound } from '#server/domains/index'
import { api } from '#shared/api/index'
import { operationsOf } from '#shared/kit/contract'

test('every operation of the contract is bound once, by the domain it is declared for', () => {
  const operationOf = new Map(bound.map(({ name, operation }) => [name, operation]))
  expect(operationOf.size).toBe(bound.length)
  expect(operationOf).toEqual(new Map(operationsOf(api).map(({ name, operation }) => [name, operation])))
})
