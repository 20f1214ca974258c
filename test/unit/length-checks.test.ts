import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { endAtLength } from '#shared/kit/length-checks'

test('no check of a value runs behind a length that is refused, wherever the value stands', () => {
  const look = vi.fn((text: string) => text)
  const short = () => z.string().max(3).overwrite(look).refine(look)
  const schema = z.object({
    plain: short(),
    list: z.array(short()),
    maybe: short().nullish(),
    either: z.union([z.number(), short()]),
    piped: short().transform(look),
    named: z.record(z.string(), short()),
    pair: z.tuple([short()]),
  })
  endAtLength(schema)
  const of = (text: string) => {
    return { plain: text, list: [text], maybe: text, either: text, piped: text, named: { a: text }, pair: [text] }
  }
  expect(schema.safeParse(of('four')).success).toBe(false)
  expect(look).not.toHaveBeenCalled()
  expect(schema.safeParse(of('abc')).success).toBe(true)
  expect(look).toHaveBeenCalled()
})
