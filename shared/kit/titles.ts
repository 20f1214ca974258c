import type { JsonSchema } from './json-schema.ts'

/** Keywords that hold one schema, several by name, or several in a row. */
const single = ['items', 'additionalProperties', 'propertyNames', 'not'] as const
const byName = ['properties', 'patternProperties'] as const
const listed = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const

/** Adds titles to a schema and its inner types, by position, as generators name types by them. */
export function titled(schema: JsonSchema, name: string): JsonSchema {
  if (schema.$ref !== undefined) return schema
  const inner: JsonSchema = {}
  for (const keyword of single)
    if (isSchema(schema[keyword])) inner[keyword] = titled(schema[keyword], `${name}_${singular[keyword]}`)
  for (const keyword of byName)
    if (isSchema(schema[keyword]))
      inner[keyword] = Object.fromEntries(
        Object.entries(schema[keyword]).map(([key, one]) => [key, isSchema(one) ? titled(one, `${name}_${key}`) : one]),
      )
  for (const keyword of listed)
    if (Array.isArray(schema[keyword]))
      inner[keyword] = (schema[keyword] as JsonSchema[]).map((one, at) => titled(one, `${name}_${at + 1}`))
  return { ...schema, ...inner, ...(isType(schema) && { title: schema.title ?? pascal(name) }) }
}

const isType = ({ type, properties, enum: choices, anyOf, oneOf, allOf }: JsonSchema): boolean =>
  type === 'object' || Boolean(properties ?? choices ?? anyOf ?? oneOf) || (Array.isArray(allOf) && allOf.length > 1)

const singular = { items: 'item', additionalProperties: 'value', propertyNames: 'key', not: 'not' } as const

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const pascal = (name: string): string =>
  name.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9]?)/g, (_, first: string) => first.toUpperCase())
