import { z } from 'zod'
import { type ErrorCode, errors } from '#shared/errors'
import {
  type Api,
  commonErrors,
  expandRoute,
  type Operation,
  operationsOf,
  type Route,
  refusesSuspended,
  type Tier,
} from './contract.ts'

export type JsonSchema = { [key: string]: unknown }
type Dialect = 'draft-2020-12' | 'draft-07'

/** A successful call: the fields of the request, and the answer (of a sequence, one item). */
export interface Example {
  input: Record<string, unknown>
  output: unknown
}

/** What documents add to the contract: named schemas, the calls a minute of each tier, and examples by operation id. */
export interface Sources {
  named: Readonly<Record<string, z.ZodType>>
  tiers: Readonly<Record<Tier, number>>
  examples: Readonly<Record<string, Example>>
}

export interface SchemaWriter {
  /** A request's schema in full, except those with a name that ends in `Input`. */
  input(schema: z.ZodType): JsonSchema
  /** What the server answers; a schema that has a name becomes a reference to it. */
  output(schema: z.ZodType): JsonSchema
  /** Every named schema that was referred to. */
  components(): Record<string, JsonSchema>
}

export function schemaWriter(target: Dialect, named: Sources['named']): SchemaWriter {
  const registry = z.registry<{ id: string }>()
  const inputs = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) (id.endsWith('Input') ? inputs : registry).add(schema, { id })
  const known = new Map<string, JsonSchema>()
  const keep = (definitions: JsonSchema) => {
    for (const [id, schema] of Object.entries(definitions))
      if (!known.has(id)) known.set(id, without(schema as JsonSchema, 'id'))
  }
  const convert = (schema: z.ZodType, io: 'input' | 'output', metadata: z.core.$ZodRegistry<{ id: string }>) => {
    const written = z.toJSONSchema(schema, {
      target,
      io,
      metadata,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema as JsonSchema, io),
    }) as JsonSchema
    const definitions = (written.$defs ?? written.definitions ?? {}) as Record<string, JsonSchema>
    if (io === 'output') tellApart(written, definitions, target)
    const text = JSON.stringify(without(written, '$schema', 'id'))
    return JSON.parse(text.replace(/"#\/(\$defs|definitions)\//g, '"#/components/schemas/')) as JsonSchema
  }
  const kept = ({ $defs, definitions, ...own }: JsonSchema): JsonSchema => {
    keep((($defs ?? definitions) as JsonSchema | undefined) ?? {})
    return own
  }
  return {
    input: (schema) => kept(convert(schema, 'input', inputs)),
    output(schema) {
      const own = kept(convert(schema, 'output', registry))
      const id = registry.get(schema)?.id
      if (id === undefined) return own
      keep({ [id]: own })
      return { $ref: `#/components/schemas/${id}` }
    },
    components: () => Object.fromEntries([...known].sort(([one], [other]) => (one < other ? -1 : 1))),
  }
}

/** Names the field that decides between named schemas, as generated clients distinguish them by it. */
function tellApart(json: unknown, named: Readonly<Record<string, JsonSchema>>, target: Dialect): void {
  if (typeof json !== 'object' || json === null) return
  for (const inner of Object.values(json)) tellApart(inner, named, target)
  const { oneOf } = json as { oneOf?: JsonSchema[] }
  const branches = oneOf?.flatMap(({ $ref }) => ($ref === undefined ? [] : [String($ref)])) ?? []
  if (branches.length === 0 || branches.length !== oneOf?.length) return
  const mapping = Object.fromEntries(branches.map((ref) => [typeOf(named[ref.split('/').at(-1) ?? '']), ref]))
  if ('undefined' in mapping) return
  Object.assign(json, { discriminator: target === 'draft-07' ? 'type' : { propertyName: 'type', mapping } })
}

const typeOf = (schema: JsonSchema | undefined): unknown =>
  (schema?.properties as Record<string, JsonSchema> | undefined)?.type?.const

/** Leaves out what tells a reader nothing, and what would forbid later additions to an answer. */
function tidy(schema: z.core.$ZodTypes, json: JsonSchema, io: 'input' | 'output'): void {
  const { def } = schema._zod
  if (def.type === 'union' && def.options.some(isOfNewerServers)) onlyKnown(def.options, json)
  if (io === 'output' && def.type === 'pipe' && def.out._zod.def.type === 'transform')
    Object.assign(json, without(z.toJSONSchema(def.in, { io, unrepresentable: 'any' }) as JsonSchema, '$schema'))
  if (io === 'output' ? def.type === 'object' || def.type === 'union' : true) describe(schema, json)
  if (io === 'output' && json.additionalProperties === false) delete json.additionalProperties
  if (json.type === 'string') Object.assign(json, toldBy(schema, io))
  if (json.format !== undefined) delete json.pattern
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
}

function describe(schema: z.core.$ZodTypes, json: JsonSchema): void {
  const { description } = z.globalRegistry.get(schema) ?? {}
  if (description !== undefined) json.description = description
}

const isOfNewerServers = (schema: z.core.$ZodType) => z.globalRegistry.get(schema)?.isOfNewerServers === true

/** Of a union with what newer servers may say, all else. */
function onlyKnown(options: readonly z.core.$ZodType[], json: JsonSchema): void {
  const [only, ...others] = (json.anyOf as JsonSchema[]).filter(
    (_, at) => !isOfNewerServers(options[at] as z.core.$ZodType),
  )
  delete json.anyOf
  Object.assign(json, others.length > 0 ? { anyOf: [only, ...others] } : only)
}

const saying = ['format', 'pattern', 'contentMediaType']

/** What a schema says beside its type, and what a text must be that the caller's is read as. */
function toldBy(schema: z.core.$ZodTypes, io: 'input' | 'output'): JsonSchema {
  const { def } = schema._zod
  const isRead = io === 'input' && def.type === 'pipe' && def.out._zod.def.type === 'string'
  const told = { ...(isRead ? z.toJSONSchema(def.out) : {}), ...z.globalRegistry.get(schema) }
  return Object.fromEntries(Object.entries(told).filter(([key]) => saying.includes(key)))
}

export const without = (schema: JsonSchema, ...keys: string[]): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)))

/** Codes an operation may answer: its own first, then those of every operation. */
export function errorCodesOf(operation: Operation): { own: ErrorCode[]; all: ErrorCode[] } {
  const own: ErrorCode[] = [...(operation.errors ?? [])]
  if (operation.freshProof) own.push('REAUTHENTICATION_REQUIRED')
  if (refusesSuspended(operation)) own.push('SUSPENDED')
  return {
    own: [...new Set(own)].filter((code) => !commonErrors.includes(code)),
    all: [...new Set([...own, ...commonErrors])],
  }
}

export const errorCatalogue = () =>
  Object.fromEntries(Object.entries(errors).map(([code, [status, message]]) => [code, { status, message }]))

const extras: JsonSchema = {
  retryAfter: { type: 'integer', description: 'Seconds after which a try may succeed.' },
  verdict: { $ref: '#/components/schemas/Verdict', description: 'Of a refused send: the step that decided, and why.' },
}

/** Both shapes of a refusal; a socket wraps the second one in `{ ok: false, error, meta }`. */
export const errorSchemas: Record<'ErrorCode' | 'TextError' | 'CodedError', JsonSchema> = {
  ErrorCode: { type: 'string', enum: Object.keys(errors) },
  TextError: {
    type: 'object',
    properties: { error: { type: 'string' }, code: { $ref: '#/components/schemas/ErrorCode' }, ...extras },
    required: ['error', 'code'],
  },
  CodedError: {
    type: 'object',
    properties: {
      success: { const: false },
      error: {
        type: 'object',
        properties: {
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: { type: 'string' },
          ...extras,
          details: { type: 'object' },
        },
        required: ['code', 'message'],
      },
    },
    required: ['success', 'error'],
  },
}

/** The field of an input that is a file, and how many bytes it may have. Such an operation is sent as multipart/form-data, and over REST alone. */
export function fileOf({ input }: Operation): { field: string; maxBytes: number } | null {
  const found = Object.entries(input.shape).find(([, schema]) => (schema as z.ZodType).type === 'file')
  if (!found) return null
  const [field, schema] = found
  return { field, maxBytes: z.toJSONSchema(schema as z.ZodFile).maxLength ?? 0 }
}

/** An operation by the path that new clients use. */
export interface CanonicalOperation {
  /** As the documents call it: its name, and the kind of room where the path is of one. */
  id: string
  name: string
  operation: Operation
  /** What the request says beside a file. */
  input: z.ZodType
  answer: z.ZodType
  fixed?: { type: string }
}

const documentId = (name: string, fixed?: { type: string }): string => [name, ...(fixed ? [fixed.type] : [])].join('.')

/** Every operation with a path, by its own path, or by the first of its aliases. */
export const canonicalOperations = (api: Api): CanonicalOperation[] =>
  operationsOf(api).flatMap(({ name, operation }) => {
    const first = firstSpelling(operation)
    if (!first) return []
    const { route, answer } = first
    const { field } = fileOf(operation) ?? {}
    const input = field === undefined ? first.input : z.object(without(operation.input.shape, field) as z.ZodRawShape)
    return expandRoute(route).map(({ fixed }) => ({
      id: documentId(name, fixed),
      name,
      operation,
      input,
      answer,
      ...(fixed ? { fixed } : {}),
    }))
  })

function firstSpelling({ http, aliases = [], input, output }: Operation): {
  route: Route
  input: z.ZodType
  answer: z.ZodType
} | null {
  if (http) return { route: http, input, answer: output }
  const [alias] = aliases as readonly { http: Route; input?: z.ZodType; answer?: { schema: z.ZodType } }[]
  return alias ? { route: alias.http, input: alias.input ?? input, answer: alias.answer?.schema ?? output } : null
}
