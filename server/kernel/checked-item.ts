import type { z } from 'zod'

const checked = new WeakMap<object, { schema: z.ZodType; output: unknown }>()

/** An item of a sequence as its schema makes it. An item that goes to many is checked once, and is the same object for all of them. */
export function checkedItem(schema: z.ZodType, item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return schema.parse(item)
  const known = checked.get(item)
  if (known?.schema === schema) return known.output
  const output = schema.parse(item)
  checked.set(item, { schema, output })
  return output
}
