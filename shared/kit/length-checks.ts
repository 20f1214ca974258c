import type { z } from 'zod'

type Schema = z.core.$ZodType

/** The schemas directly below a schema. */
export function schemasBelow(schema: Schema): readonly Schema[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return [...Object.values(def.shape), ...(def.catchall ? [def.catchall] : [])]
    case 'array':
      return [def.element]
    case 'tuple':
      return [...def.items, ...(def.rest ? [def.rest] : [])]
    case 'record':
    case 'map':
      return [def.keyType, def.valueType]
    case 'set':
      return [def.valueType]
    case 'union':
      return def.options
    case 'intersection':
      return [def.left, def.right]
    case 'pipe':
      return [def.in, def.out]
    case 'lazy':
      return [def.getter()]
    default:
      return 'innerType' in def ? [def.innerType] : []
  }
}

/** The checks of a value, in the order in which they run. */
export const checksOf = (schema: Schema) => (schema as z.core.$ZodTypes)._zod.def.checks ?? []

/** Does the check refuse what is too long or too many? */
export const isLengthCheck = ({ _zod: { def } }: z.core.$ZodCheck<never>): boolean =>
  def.check === 'max_length' || def.check === 'length_equals' || def.check === 'max_size'

const bounded = new WeakSet<Schema>()

/**
 * Ends the checks of each value below the schema once its length is refused. By itself zod runs those behind as well, and their
 * cost may grow with the square of the length.
 */
export function endAtLength(schema: Schema): void {
  if (bounded.has(schema)) return
  bounded.add(schema)
  for (const check of checksOf(schema)) if (isLengthCheck(check)) check._zod.def.abort = true
  for (const below of schemasBelow(schema)) endAtLength(below)
}
