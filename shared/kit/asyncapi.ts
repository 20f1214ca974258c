import { streamItem } from './connection.ts'
import { type Api, type Event, type EventInTwoForms, type Named, namespaces, operationsOf } from './contract.ts'
import {
  errorCatalogue,
  errorCodesOf,
  errorSchemas,
  type JsonSchema,
  type SchemaWriter,
  type Sources,
  schemaWriter,
} from './json-schema.ts'

/** Keywords that hold one schema, several by name, or several in a row. */
const single = ['items', 'additionalProperties', 'propertyNames', 'not'] as const
const byName = ['properties', 'patternProperties'] as const
const listed = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const

/** Adds titles to a schema and its inner types, by position, as generators name types by them. */
function titled(schema: JsonSchema, name: string): JsonSchema {
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

/** The socket door as an AsyncAPI 3.0 document: a channel is a namespace, an ack is a reply. */
export function asyncapi(api: Api, events: Readonly<Record<string, Event>>, { named, tiers }: Sources): JsonSchema {
  const write = schemaWriter('draft-07', named)
  const asked = operationsOf(api).flatMap((declared) => askedIn(write, declared))
  const told = Object.entries(events).flatMap(([key, declared]) => toldIn(write, key, declared))
  const parts = [...asked, ...told]
  const channels = namespaces.map((namespace) => [
    keyOf(namespace),
    { address: namespace, messages: messagesOf(parts.filter((part) => part.namespace === namespace)) },
  ])
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Plaza',
      version: '1',
      description: 'The socket door: Socket.IO 4 over WebSocket. Every event of a client is answered by an ack.',
      license: { name: 'MIT' },
    },
    servers: {
      plaza: {
        host: 'localhost:3000',
        protocol: 'ws',
        description:
          'Socket.IO; the credential is `auth.token`, a Bearer header, or the cookie. `auth.protocol` is 1, where it is left out, or 2.',
        security: [{ $ref: '#/components/securitySchemes/session' }, { $ref: '#/components/securitySchemes/bearer' }],
      },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(parts.map(({ key, operation }) => [key, operation])),
    components: {
      schemas: Object.fromEntries(
        Object.entries({ ...errorSchemas, ...ackSchemas, ...write.components() }).map(([name, schema]) => [
          name,
          titled(schema, name),
        ]),
      ),
      securitySchemes: {
        session: { type: 'httpApiKey', in: 'cookie', name: 'app_session' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
    'x-rate-tiers': tiers,
    'x-errors': errorCatalogue(),
  }
}

interface Part {
  namespace: string
  key: string
  messages: Record<string, JsonSchema>
  operation: JsonSchema
}

function askedIn(write: SchemaWriter, { name, operation }: Named): Part[] {
  const [where, event] = operation.socket?.split(' ') ?? []
  if (where === undefined || event === undefined) return []
  const id = name.replace('.', '_')
  const { own, all } = errorCodesOf(operation)
  const output = write.output(operation.output)
  const { lean } = operation
  const messages = {
    [id]: {
      name: event,
      summary: operation.summary,
      payload: { ...write.input(operation.input), additionalProperties: false },
    },
    [`${id}_ack`]: { name: `${event} ack`, payload: ackOf(operation.stream ? streamNamed : output, all) },
    ...(lean
      ? {
          [`${id}_ack_lean`]: {
            name: `${event} ack`,
            summary: byProtocol2,
            payload: ackOf(write.output(lean.output), all),
          },
        }
      : {}),
    ...(operation.stream ? { [`${id}_item`]: { name: streamItem.name, payload: itemOf(output) } } : {}),
  }
  const { alsoOn = [] } = operation
  return [...namespacesOf(where), ...alsoOn].map((namespace) => ({
    namespace,
    key: keyIn(namespace === where ? where : '*', namespace, id),
    messages,
    operation: {
      action: 'receive',
      channel: channelRef(namespace),
      summary: operation.summary,
      messages: [messageRef(namespace, id)],
      reply: {
        channel: channelRef(namespace),
        messages: Object.keys(messages)
          .slice(1)
          .map((one) => messageRef(namespace, one)),
      },
      'x-operation': name,
      'x-access': operation.access,
      'x-rate-tier': operation.limit,
      'x-cost': operation.cost,
      'x-error-codes': own,
      ...(operation.http ? { 'x-http': operation.http } : {}),
      ...(operation.idempotency ? { 'x-idempotency-key': operation.idempotency.key } : {}),
    },
  }))
}

function toldIn(
  write: SchemaWriter,
  id: string,
  { name, namespace: where, summary, audience, payload, ...more }: Event | EventInTwoForms,
): Part[] {
  const messages = {
    [id]: { name, summary, payload: write.output(payload) },
    ...('lean' in more ? { [`${id}_lean`]: { name, summary: byProtocol2, payload: write.output(more.lean) } } : {}),
  }
  return namespacesOf(where).map((namespace) => ({
    namespace,
    key: keyIn(where, namespace, id),
    messages,
    operation: {
      action: 'send',
      channel: channelRef(namespace),
      summary,
      messages: Object.keys(messages).map((one) => messageRef(namespace, one)),
      'x-audience': audience,
    },
  }))
}

const namespacesOf = (where: string): readonly string[] => (where === '*' ? namespaces : [where])
const keyOf = (namespace: string) => namespace.slice(1)
const keyIn = (where: string, namespace: string, id: string) => (where === '*' ? `${id}_${keyOf(namespace)}` : id)
const channelRef = (namespace: string) => ({ $ref: `#/channels/${keyOf(namespace)}` })
const messageRef = (namespace: string, id: string) => ({ $ref: `#/channels/${keyOf(namespace)}/messages/${id}` })
const messagesOf = (parts: readonly Part[]): JsonSchema =>
  Object.fromEntries(
    parts.flatMap(({ messages }) =>
      Object.entries(messages).map(([id, { payload, ...message }]) => [
        id,
        { ...message, payload: titled(payload as JsonSchema, id) },
      ]),
    ),
  )

const byProtocol2 = 'The same, as it is told by protocol 2.'

const ackOf = (data: JsonSchema, codes: readonly string[]): JsonSchema => ({
  oneOf: [
    {
      type: 'object',
      properties: { ok: { const: true }, data, meta: { $ref: '#/components/schemas/AckMeta' } },
      required: ['ok', 'data'],
    },
    {
      type: 'object',
      properties: {
        ok: { const: false },
        error: {
          allOf: [{ $ref: '#/components/schemas/AckError' }, { properties: { code: { enum: codes } } }],
        },
        meta: { $ref: '#/components/schemas/AckMeta' },
      },
      required: ['ok', 'error', 'meta'],
    },
  ],
})

const streamNamed: JsonSchema = { type: 'object', properties: { stream: { type: 'string' } }, required: ['stream'] }
const itemOf = (item: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { stream: { type: 'string' }, item },
  required: ['stream', 'item'],
})

const ackSchemas: Record<'AckMeta' | 'AckError', JsonSchema> = {
  AckMeta: {
    type: 'object',
    description: 'Left out by protocol 2 where the answer is ok.',
    properties: {
      request_id: { type: 'string' },
      server_time: { type: 'string', format: 'date-time' },
      rate: {
        type: ['object', 'null'],
        properties: { limit: { type: 'integer' }, remaining: { type: 'integer' }, reset: { type: 'integer' } },
        required: ['limit', 'remaining', 'reset'],
      },
    },
    required: ['request_id', 'server_time', 'rate'],
  },
  AckError: {
    type: 'object',
    properties: {
      code: { $ref: '#/components/schemas/ErrorCode' },
      message: { type: 'string' },
      status: { type: 'integer' },
      retryAfter: { type: 'integer' },
      verdict: { $ref: '#/components/schemas/Verdict' },
      details: { type: 'object' },
    },
    required: ['code', 'message', 'status'],
  },
}
