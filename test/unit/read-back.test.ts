import { expect, test } from 'vitest'
import { readDuplicate } from '#server/kernel/store/read-back'

test('M42: a duplicate that a majority does not have yet is read once it does', async () => {
  const answers = [null, null, null, 'the other']
  expect(await readDuplicate(async () => answers.shift() ?? null)).toBe('the other')
  expect(answers).toEqual([])
})

test('M42: what is gone is null, soon', async () => {
  const started = Date.now()
  expect(await readDuplicate(async () => null)).toBeNull()
  expect(Date.now() - started).toBeLessThan(10_000)
})
