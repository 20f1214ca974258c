import { expect, test } from 'vitest'
import { z } from 'zod'
import { clearable, maybe, nameLine } from '#shared/kit/primitives'

const form = z.object({
  name: maybe(nameLine(1, 5)),
  count: maybe(z.number().min(1)),
  slug: clearable(z.string().min(3)),
})

test('a field that may be left out may be null or empty instead; one that is cleared is null', () => {
  for (const empty of [null, ''] as const)
    expect(form.parse({ name: empty, count: empty, slug: empty })).toEqual({ slug: null })
  expect(form.parse({ slug: 'abc' })).toEqual({ slug: 'abc' })
  expect(form.parse({ name: ' Ann ', count: 2, slug: 'abc' })).toEqual({ name: 'Ann', count: 2, slug: 'abc' })
})

test('what is wrong with another value is said as it is without them', () => {
  const wrong = form.safeParse({ name: 'Too long a name', count: 0, slug: 'ab' })
  expect(wrong.error?.issues.map(({ message }) => message)).toEqual([
    'Too long: at most 5 characters',
    'Too small: expected number to be >=1',
    'Too small: expected string to have >=3 characters',
  ])
  expect(form.safeParse({ name: {}, slug: [] }).success).toBe(false)
})
