import fc from 'fast-check'
import type { z } from 'zod'

interface Def {
  type: string
  element?: z.ZodType
  innerType?: z.ZodType
  valueType?: z.ZodType
  in?: z.ZodType
  options?: z.ZodType[]
  values?: unknown[]
  entries?: Record<string, unknown>
  shape?: Record<string, z.ZodType>
}

/** Values of a schema as in answers. Texts and numbers come from small sets, so that fields are often equal. */
export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const {
    type,
    element,
    innerType,
    valueType,
    in: read,
    options,
    values,
    entries,
    shape,
  } = schema.def as unknown as Def
  if (type === 'object' && shape) return objectOf(shape)
  if (type === 'nullable' && innerType) return fc.oneof(fc.constant(null), arbitraryOf(innerType))
  if ((type === 'optional' || type === 'default') && innerType) return arbitraryOf(innerType)
  if (type === 'array' && element) return fc.array(arbitraryOf(element), { maxLength: 3 })
  if (type === 'record' && valueType) return fc.dictionary(word, arbitraryOf(valueType), { maxKeys: 3 })
  if (type === 'union' && options) return fc.oneof(...options.map(arbitraryOf))
  if (type === 'pipe' && read) return arbitraryOf(read)
  if (type === 'enum' && entries) return fc.constantFrom(...Object.values(entries))
  if (type === 'literal' && values) return fc.constantFrom(...values)
  if (type === 'string') return wordOf((schema as { format?: string }).format)
  if (type === 'number') return fc.integer({ min: 1, max: 3 })
  if (type === 'boolean') return fc.boolean()
  if (type === 'unknown') return fc.jsonValue({ maxDepth: 1 })
  throw new Error(`No values of a schema of type ${type}`)
}

function objectOf(shape: Record<string, z.ZodType>): fc.Arbitrary<object> {
  const fields = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, arbitraryOf(field)]))
  const requiredKeys = Object.keys(shape).filter((name) => shape[name]?.def.type !== 'optional')
  return fc.record(fields, { requiredKeys, noNullPrototype: true })
}

const times = ['2026-11-23T14:33:19.123Z', '2026-11-23T14:33:19Z', '2026-11-23T15:33:19.123+01:00', 'soon', '']
const word = fc.constantFrom(
  '',
  'member',
  'text',
  'message.created',
  '0xada',
  '0xbob',
  'agent:one',
  'channel',
  ...times,
)
const formats: Readonly<Record<string, string>> = { url: 'https://plaza.test/a', datetime: '2026-11-23T14:33:19.123Z' }
const wordOf = (format: string | undefined) =>
  format === undefined || formats[format] === undefined ? word : fc.constant(formats[format])
