import { z } from 'zod'
import { cut } from '#shared/kit/cut'
import { type Redact, redactedWithin } from './redaction.ts'

type Schema = Readonly<Record<string, unknown>>

const longestSchema = 8_000
/** Before it is tidied. */
const longestGiven = 64_000
const longestArguments = 16_000
const deepest = 8
/** What a value must be. References and patterns are left out: others wrote them, and they would run here. */
const words = {
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

/** The schema of a tool as a model may be shown it; null where it is none that arguments can be checked by. */
export function tidied(schema: Schema, redact: Redact = (text) => text): Schema | null {
  if (JSON.stringify(schema).length > longestGiven) return null
  const tidy = redactedWithin({ ...tidiedPart(schema, 0, redact), type: 'object' }, redact)
  if (JSON.stringify(tidy).length > longestSchema) return null
  return checkerOf(tidy) && tidy
}

function tidiedPart(schema: Schema, depth: number, redact: Redact): Schema {
  if (depth > deepest) return {}
  const kept: [string, unknown][] = []
  for (const word of words.plain) if (word in schema) kept.push([word, schema[word]])
  for (const word of words.schema) {
    const value = schema[word]
    if (typeof value === 'boolean') kept.push([word, value])
    else if (isSchema(value)) kept.push([word, tidiedPart(value, depth + 1, redact)])
  }
  for (const word of words.schemas) {
    const value = schema[word]
    if (Array.isArray(value)) kept.push([word, value.filter(isSchema).map((one) => tidiedPart(one, depth + 1, redact))])
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

/** Null where the schema says nothing that can be checked. */
function checkerOf(schema: Schema): z.ZodType | null {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  } catch {
    return null
  }
}

export type Checked = { given: Readonly<Record<string, unknown>> } | { problem: string }

/** Arguments as a model wrote them, by a tidied schema. */
export function checkArguments(schema: Schema, text: string): Checked {
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
