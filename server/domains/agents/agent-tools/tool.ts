import { parse } from 'graphql/language/parser.js'
import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { ModelTool } from '#server/ports/model/port'
import { cut } from '#shared/kit/cut'
import { type Redact, redactedValue } from './redaction.ts'

/** A tool that an agent may use in an answer. */
export interface Tool {
  /** The display name of its server. */
  server: string
  /** The name at its server. */
  name: string
  /** The description for the model; its name is unique per agent. */
  shown: ModelTool
  /** The key under which repeated failures pause it. */
  key: string
  run(given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<{ text: string; isError: boolean }>
}

const longestName = 64
const longestDescription = 1_000

/** Describes a tool to a model: its own text, then the owner's. */
export const describedTool = (
  server: string,
  name: string,
  parts: readonly (string | null)[],
  parameters: ModelTool['parameters'],
): ModelTool => ({
  name: `${server}_${name}`.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName),
  description: parts
    .flatMap((part) => part?.trim() || [])
    .map((part) => cut(part, longestDescription))
    .join('\n'),
  parameters,
})

/** Makes names unique, as models call tools by name. */
export function distinctTools(tools: readonly Tool[]): Tool[] {
  const taken = new Set<string>()
  return tools.map((tool) => {
    let name = tool.shown.name
    for (let next = 2; taken.has(name); next++) name = `${tool.shown.name.slice(0, longestName - 4)}_${next}`
    taken.add(name)
    return { ...tool, shown: { ...tool.shown, name } }
  })
}

const failuresAtMost = 3
const firstPauseMilliseconds = 30_000
const longestPauseMilliseconds = 10 * 60_000
const mostKept = 1_000

/** Recent failures. */
const failing = nodeState(() => new Map<string, { failures: number; until: number }>())

/** Whether a failing tool is paused. */
export const isRestingTool = (node: Node, key: string): boolean =>
  (failing(node).get(key)?.until ?? 0) > performance.now()

/** After three failures in a row a tool pauses for 30 s, then twice as long each time. */
export function noteToolOutcome(node: Node, key: string, isThere: boolean): void {
  const known = failing(node)
  const failures = isThere ? 0 : (known.get(key)?.failures ?? 0) + 1
  known.delete(key)
  if (failures === 0) return
  const pause = Math.min(firstPauseMilliseconds * 2 ** (failures - failuresAtMost), longestPauseMilliseconds)
  known.set(key, { failures, until: failures < failuresAtMost ? 0 : performance.now() + pause })
  const [oldest] = known.keys()
  if (known.size > mostKept && oldest !== undefined) known.delete(oldest)
}

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

type CheckedArguments = { given: Readonly<Record<string, unknown>> } | { problem: string }

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

const server = 'Platform'

/** The tool for platform data, which every agent may query; null without any. */
export function platformTool({ services: { platformData } }: Node, agent: string): Tool | null {
  if (!platformData) return null
  const parameters = {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'A GraphQL query; ask { __schema { types { name } } } for what there is' },
      variables: { type: 'object' },
    },
    required: ['query'],
  }
  return {
    server,
    name: 'graphql',
    shown: describedTool(
      server,
      'data',
      ['Looks up data of the platform, by GraphQL. It reads, and changes nothing.'],
      parameters,
    ),
    key: JSON.stringify([agent, 'platform']),
    async run({ query, variables }, signal) {
      if (!isReadingQuery(String(query))) return { text: 'Only queries are allowed', isError: true }
      return {
        text: await platformData.query(String(query), (variables ?? {}) as Record<string, unknown>, signal),
        isError: false,
      }
    },
  }
}

/** Whether a document has queries alone. Invalid GraphQL has none. */
export function isReadingQuery(document: string): boolean {
  try {
    return parse(document).definitions.every((one) => !('operation' in one) || String(one.operation) === 'query')
  } catch {
    return false
  }
}
