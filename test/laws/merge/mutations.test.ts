import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mutations } from '#test/mutations/list'
import { literally, mutated } from '#test/mutations/mutation'
import { rulesOfParts } from '#test/simulation/machine'
import { allRules } from '#test/simulation/simulate'
import { everythingIn, programOf, root, textOf } from '../sources.ts'

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

test('the title by which a mutation names its test is one of that file', () => {
  const wrong = mutations.flatMap(({ name, caughtBy: { file, title } }) =>
    title === undefined || hasTitle(stringsOf(file, textOf(file)), title) ? [] : [`${name}: no "${title}" in ${file}`],
  )
  expect(wrong).toEqual([])
})

test('a title is found in part, with the values of its table, and not in a comment', () => {
  const strings = stringsOf('a.test.ts', "// a spare room\ntest.each([['tea', 1]])('a cup of %s is full', () => {})")
  expect(hasTitle(strings, 'is full')).toBe(true)
  expect(hasTitle(strings, 'a cup of tea is full')).toBe(true)
  for (const title of ['a cup of coffee is full', 'a spare room']) expect(hasTitle(strings, title)).toBe(false)
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

const HOLE = /%[sjdif]|\$[\w.]+/

/** Every text that is written in a file; comments are none. */
function stringsOf(path: string, code: string): string[] {
  return everythingIn(programOf(path, code)).flatMap(({ type, value }) => {
    const text = type === 'TemplateElement' ? (value as { cooked: string }).cooked : value
    return typeof text === 'string' && /^(Literal|TemplateElement)$/.test(type) ? [text] : []
  })
}

/** Is this a part of one of the texts, or one of them with other texts in its holes? */
function hasTitle(strings: readonly string[], title: string): boolean {
  if (strings.some((text) => text.includes(title))) return true
  return strings.some((text) => {
    const parts = text.split(HOLE)
    if (parts.join('').trim() === '') return false
    const values = new RegExp(`^${parts.map(literally).join('(.+)')}$`).exec(title)
    return values?.slice(1).every((value) => strings.includes(value)) ?? false
  })
}
