import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mutations } from '#test/mutations/list'
import { mutated } from '#test/mutations/mutation'
import { rulesOfParts } from '#test/simulation/machine'
import { allRules } from '#test/simulation/simulate'
import { root, textOf } from './sources.ts'

test('every mutation applies to the code as it is', () => {
  const wrong = mutations.flatMap((mutation) => {
    try {
      mutated(textOf(mutation.file), mutation)
      return existsSync(join(root, mutation.caughtBy.file)) ? [] : [`${mutation.name}: no ${mutation.caughtBy.file}`]
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)]
    }
  })
  expect(wrong).toEqual([])
})

test('each mutation has a name of its own', () => {
  const names = mutations.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
})

test('each rule of the log and each promise that it keeps is broken by a mutation', () => {
  const broken = new Set(mutations.map(({ breaks }) => breaks))
  const promises = Array.from({ length: 9 }, (_, index) => `P${index + 1}`)
  const rules = allRules.filter((rule) => !rulesOfParts.some((part) => part === rule))
  expect([...rules, ...promises].filter((each) => !broken.has(each))).toEqual([])
})

test('a snippet that is not there, or there twice, is told', () => {
  const mutation = { name: 'any', breaks: 'P1', file: 'a.ts', find: 'one', put: 'two' }
  const caughtBy = { project: 'unit', file: 'a.test.ts' }
  expect(mutated('one', { ...mutation, caughtBy })).toBe('two')
  for (const text of ['other', 'one one']) expect(() => mutated(text, { ...mutation, caughtBy })).toThrow('"any"')
})
