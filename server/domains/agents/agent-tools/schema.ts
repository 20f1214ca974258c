import { z } from 'zod'
import { cut } from '#shared/kit/cut'
import { type Redact, redactedValue } from './redaction.ts'

type Schema = Readonly<Record<string, unknown>>

const longestSchema = 8_000
/** The limit before tidying. */
const longestGiven = 64_000
const longestArguments = 16_000
const deepest = 8
/** Allowed keywords. References and patterns are dropped, as strangers wrote them and they would run here. */
const keywords = {
  plain: [
    'type',
    'required',
    'enum',
    'const',
    'default',
    'minimum',
    'maximum',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
  ],
  schema: ['items', 'additionalProperties'],
  schemas: ['anyOf', 'oneOf', 'allOf'],
} as const

/** Tidies the schema of a tool for a model; null if it cannot check arguments. */
export function tidiedSchema(schema: Schema, redact: Redact = (text) => text): Schema | null {
  if (JSON.stringify(schema).length > longestGiven) return null
  const tidy = redactedValue({ ...tidiedPart(schema, 0, redact), type: 'object' }, redact)
  if (JSON.stringify(tidy).length > longestSchema) return null
  return checkerOf(tidy) && tidy
}

function tidiedPart(schema: Schema, depth: number, redact: Redact): Schema {
  if (depth > deepest) return {}
  const kept: [string, unknown][] = []
  for (const keyword of keywords.plain) if (keyword in schema) kept.push([keyword, schema[keyword]])
  for (const keyword of keywords.schema) {
    const value = schema[keyword]
    if (typeof value === 'boolean') kept.push([keyword, value])
    else if (isSchema(value)) kept.push([keyword, tidiedPart(value, depth + 1, redact)])
  }
  for (const keyword of keywords.schemas) {
    const value = schema[keyword]
    if (Array.isArray(value))
      kept.push([keyword, value.filter(isSchema).map((one) => tidiedPart(one, depth + 1, redact))])
  }
  if (typeof schema.description === 'string') kept.push(['description', cut(redact(schema.description), 300)])
  if (isSchema(schema.properties)) {
    const named = Object.entries(schema.properties).filter(
      ([name]) => !/^(__proto__|constructor|prototype)$/.test(name),
    )
    const tidy = named.map(([name, value]) => [name, isSchema(value) ? tidiedPart(value, depth + 1, redact) : {}])
    kept.push(['properties', Object.fromEntries(tidy)])
  }
  return Object.fromEntries(kept)
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const AnObject = z.record(z.string(), z.unknown())

/** Null for a schema that cannot be checked. */
function checkerOf(schema: Schema): z.ZodType | null {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  } catch {
    return null
  }
}

export type CheckedArguments = { given: Readonly<Record<string, unknown>> } | { problem: string }

/** Checks a model's arguments by a tidied schema. */
export function checkArguments(schema: Schema, text: string): CheckedArguments {
  if (text.length > longestArguments) return { problem: 'The arguments are too long' }
  try {
    const given = AnObject.parse(JSON.parse(text === '' ? '{}' : text))
    const checked = checkerOf(schema)?.safeParse(given)
    if (checked?.success) return { given: AnObject.parse(checked.data) }
    const issue = checked?.error?.issues[0]
    return { problem: `${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'not valid'}`.slice(0, 300) }
  } catch {
    return { problem: 'The arguments are no JSON object' }
  }
}
