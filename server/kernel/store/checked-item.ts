import type { z } from 'zod'

const checked = new WeakMap<object, { schema: z.ZodType; output: unknown }>()

/**
 * An item of a sequence, checked by its schema. An item with many receivers is checked once, and is one object for all.
 */
export function checkedItem(schema: z.ZodType, item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return schema.parse(item)
  const known = checked.get(item)
  if (known?.schema === schema) return known.output
  const output = schema.parse(item)
  checked.set(item, { schema, output })
  return output
}
