import type { z } from 'zod'
import {
  type Alias,
  type Api,
  type ErrorBody,
  expandRoute,
  type Named,
  type Operation,
  operationsOf,
  pathParameters,
  type Route,
  successorOf,
} from './contract.ts'
import {
  type Example,
  errorCatalogue,
  errorCodesOf,
  errorSchemas,
  fileOf,
  type JsonSchema,
  type SchemaWriter,
  type Sources,
  schemaWriter,
  without,
} from './json-schema.ts'
import { etag, filePath, inQuery, mediaPaths, refused, unchanged } from './openapi-media.ts'
import { AnyRoomId, RoomType } from './primitives.ts'
import { deprecationHeaders, headers, type RefusalWriter, rateHeaders, refusalWriter } from './refusals.ts'
import { singleTypes } from './room-kinds.ts'

/** Where other sites lead browsers back to. */
const returnPaths: Record<string, Record<string, JsonSchema>> = {
  '/api/calendar/callback': {
    get: {
      operationId: 'calendar.callback',
      tags: ['calendar'],
      summary: 'Where the provider of a calendar leads the browser back to that went there by `authUrl`.',
      security: [{}],
      parameters: [
        inQuery('code', 'What the provider gives.'),
        inQuery('state', 'What was sent to it.'),
        inQuery('error', 'Why it gives nothing.'),
      ],
      responses: {
        302: {
          description: 'To the page, with `calendar_connected=true`, or with why not in `calendar_error`.',
          headers: { Location: { description: 'The page.', schema: { type: 'string' } } },
        },
        400: refused('VALIDATION_ERROR', 'The request cannot be read.'),
        429: refused('RATE_LIMIT_EXCEEDED', 'This address asks too often.', {
          'Retry-After': { $ref: '#/components/headers/Retry-After' },
        }),
        500: refused('INTERNAL_ERROR', 'Something went wrong.'),
      },
    },
  },
}

/** The REST door as an OpenAPI 3.1 document. */
export function openapi(api: Api, { named, tiers, examples }: Sources): JsonSchema {
  const write = schemaWriter('draft-2020-12', named)
  const refusals = refusalWriter()
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const declared of operationsOf(api)) {
    for (const [index, spelling] of spellingsOf(declared.operation).entries()) {
      for (const { method, path, fixed, query } of expandRoute(spelling.route)) {
        const template = path.replace(/:([a-zA-Z_]+)/g, '{$1}')
        const id = [declared.name, ...(index === 0 ? [] : [`alias${index}`]), ...(fixed ? [fixed.type] : [])].join('.')
        const example = spelling.isDeprecated ? undefined : (examples[id] ?? examples[declared.name])
        const described = describe({ write, refusals }, declared, spelling, path, fixed !== undefined, example)
        const verb = method.toLowerCase()
        // Other spellings are answered as ever; new clients use the first.
        const whole = { operationId: id, ...described, ...(spelling.isDeprecated && { deprecated: true }) }
        const known = paths[template]?.[verb]
        // Leaves out a query with a path of its own, as it may be an endless sequence.
        if (query && known && index > 0) continue
        paths[template] = { ...paths[template], [verb]: query && known ? withVariant(known, whole, query) : whole }
      }
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Plaza',
      version: '1',
      description: 'The REST door. The same operations are open over sockets: see asyncapi.json.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...Object.keys(api), 'files'].map((name) => ({ name })),
    paths: { ...paths, ...returnPaths, ...mediaPaths, '/files/{key}': filePath },
    components: {
      schemas: { ...errorSchemas, ...write.components() },
      responses: refusals.components(),
      headers,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'app_session' },
        bearer: { type: 'http', scheme: 'bearer' },
        adminAddress: { type: 'apiKey', in: 'header', name: 'X-Admin-Address' },
        adminSignature: { type: 'apiKey', in: 'header', name: 'X-Admin-Signature' },
        adminMessage: {
          ...{ type: 'apiKey', in: 'header', name: 'X-Admin-Message' },
          description: 'Base64 of the URI-encoded message of `GET /api/admin/verify`.',
        },
      },
    },
    'x-rate-tiers': tiers,
    'x-errors': errorCatalogue(),
  }
}

/** Merges a variant by query into its path's operation, as another content of the same answer. */
function withVariant(known: JsonSchema, variant: JsonSchema, query: Readonly<Record<string, string>>): JsonSchema {
  const own = variant.parameters as { name?: string; schema?: JsonSchema }[]
  const asked = Object.entries(query).map(([name, value]) => ({
    name,
    in: 'query',
    required: false,
    description: value === '' ? variant.summary : `${value}: ${variant.summary}`,
    schema:
      value === ''
        ? own.find((parameter) => parameter.name === name)?.schema
        : { type: 'string', enum: value === 'true' ? ['true', 'false'] : [value] },
  }))
  const [responses, others] = [known, variant].map((one) => one.responses as Record<string, JsonSchema>)
  const content = { ...(responses?.[200]?.content as object), ...(others?.[200]?.content as object) }
  return {
    ...known,
    parameters: [...(known.parameters as JsonSchema[]), ...asked],
    responses: { ...others, ...responses, 200: { ...responses?.[200], content } },
    'x-variants': [{ query, ...variant }],
  }
}

interface Spelling {
  route: Route
  input: z.ZodType
  answer: z.ZodType
  errorBody: ErrorBody
  isOwn: boolean
  isDeprecated: boolean
}

function spellingsOf(operation: Operation): Spelling[] {
  const { http, aliases = [], input, output, errorBody = 'coded' } = operation
  const own = http ? [{ route: http, input, answer: output, errorBody, isOwn: true, isDeprecated: false }] : []
  const others = (aliases as readonly Alias<unknown, unknown>[]).map((alias) => ({
    route: alias.http,
    input: alias.input ?? input,
    answer: alias.answer?.schema ?? output,
    errorBody: alias.errorBody ?? 'text',
    isOwn: false,
    isDeprecated: successorOf(operation, alias) !== null,
  }))
  return [...own, ...others]
}

const answers = {
  whole: { mime: 'application/json', description: 'Done.' },
  lines: { mime: 'application/x-ndjson', description: 'An item a line, as they come; the last line holds `success`.' },
  events: {
    mime: 'text/event-stream',
    description:
      'Server-sent events, as they come: `data` of each is one item, and `id` its place. `data` of the last, which is an `event: end`, holds `success`.',
  },
}

const isKnownByTag = ({ headers = {} }: Operation) => 'if-none-match' in headers

interface Writers {
  write: SchemaWriter
  refusals: RefusalWriter
}

function describe(
  { write, refusals }: Writers,
  declared: Named,
  { route, input, answer, errorBody, isOwn, isDeprecated }: Spelling,
  path: string,
  isFixed: boolean,
  example?: Example,
): JsonSchema {
  const { name, operation } = declared
  const { access, limit, cost, socket, idempotency, freshProof, summary, stream } = operation
  const { own } = errorCodesOf(operation)
  const form = stream ? (isOwn && operation.serverSent ? 'events' : 'lines') : 'whole'
  return {
    tags: [name.split('.')[0]],
    summary,
    security: [
      ...(access === 'public' ? [{}] : []),
      { session: [] },
      { bearer: [] },
      ...(access === 'admin' ? [{ adminAddress: [], adminSignature: [], adminMessage: [] }] : []),
    ],
    ...withExample(request(write.input(input), operation, route, path, isFixed), example),
    responses: {
      200: {
        description: answers[form].description,
        headers: { ...rateHeaders, ...(isKnownByTag(operation) && etag), ...(isDeprecated && deprecationHeaders) },
        content: {
          [answers[form].mime]: { schema: write.output(answer), ...(example && { example: example.output }) },
        },
      },
      ...(isKnownByTag(operation) && { 304: unchanged }),
      ...refusals.of(declared, errorBody),
    },
    'x-operation': name,
    'x-access': access,
    'x-rate-tier': limit,
    'x-cost': cost,
    'x-error-codes': own,
    ...(freshProof ? { 'x-fresh-proof': true } : {}),
    ...(socket ? { 'x-socket': socket } : {}),
    ...(idempotency ? { 'x-idempotency-key': idempotency.key } : {}),
  }
}

function request(input: JsonSchema, operation: Operation, route: Route, path: string, isFixed: boolean) {
  const { idempotency, headers = {} } = operation
  const names = pathParameters(path)
  const isRoom = route.includes('{room}')
  const ofRoom = isRoom && !isFixed ? names.slice(0, 2) : []
  const inPath = new Set(isRoom ? [...names.slice(ofRoom.length), 'room'] : names)
  const fields = fieldsOf(input)
  const pathFields = names.map((name, index) => ({
    name,
    in: 'path',
    required: true,
    schema: index < ofRoom.length ? roomParameters[index] : (fields[name]?.schema ?? { type: 'string' }),
  }))
  const keyed = fields[idempotency?.key ?? '']?.schema ?? { type: 'string' }
  const key = idempotency ? [{ name: 'Idempotency-Key', in: 'header', schema: said(keyed) }] : []
  const given = Object.entries(headers).map(([name, field]) => ({ name, in: 'header', schema: fields[field]?.schema }))
  const inQuery = (isNeeded: boolean) =>
    Object.entries(fields)
      .filter(([name]) => !inPath.has(name))
      .map(([name, { schema, isRequired }]) => ({ name, in: 'query', required: isNeeded && isRequired, schema }))
  if (/^GET /.test(route)) return { parameters: [...pathFields, ...inQuery(true), ...key, ...given] }
  const schema = bodyOf(input, inPath)
  const isRequired = branchesOf(schema).every(({ required }) => Array.isArray(required) && required.length > 0)
  const hasFields = branchesOf(schema).some(({ properties }) => Object.keys(properties ?? {}).length > 0)
  const content = { [fileOf(operation) ? 'multipart/form-data' : 'application/json']: { schema } }
  if (/^DELETE /.test(route))
    return {
      parameters: [...pathFields, ...inQuery(false), ...key, ...given],
      ...(hasFields
        ? { requestBody: { description: 'The fields, where they are not in the query.', required: false, content } }
        : {}),
    }
  return {
    parameters: [...pathFields, ...key, ...given],
    ...(hasFields ? { requestBody: { required: isRequired, content } } : {}),
  }
}

/** A schema without null and the empty text of forms; headers are left out instead. */
function said(schema: JsonSchema): JsonSchema {
  const kinds = branchesOf(schema).filter(({ type, const: only }) => type !== 'null' && only !== '')
  return (kinds.length === 1 && kinds[0]) || schema
}

interface Request {
  parameters: JsonSchema[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
}

/** Adds an example's input to the request: in the path, the query or the body. */
function withExample({ parameters, requestBody, ...request }: Request, example?: Example): JsonSchema {
  if (!example) return { parameters, ...request, ...(requestBody && { requestBody }) }
  const { room, ...fields } = example.input
  const { type, id } = (typeof room === 'object' ? room : {}) as { type?: unknown; id?: unknown }
  const known: Record<string, unknown> = { ...fields, room: id ?? room, ...(type === undefined ? {} : { type }) }
  const shown = parameters.map((parameter) => {
    const value = parameter.in === 'header' ? undefined : known[String(parameter.name)]
    return value === undefined || value === null || typeof value === 'object'
      ? parameter
      : { ...parameter, example: value }
  })
  // What a file is sent with is no JSON.
  const inBody = Object.entries(requestBody?.content ?? {}).map(([mime, { schema }]) => {
    if (mime !== 'application/json') return [mime, { schema }]
    const names = new Set(branchesOf(schema).flatMap(({ properties }) => Object.keys(properties ?? {})))
    const body = Object.fromEntries(Object.entries(example.input).filter(([name]) => names.has(name)))
    return [mime, { schema, example: body }]
  })
  return {
    parameters: shown,
    ...request,
    ...(requestBody && { requestBody: { ...requestBody, content: Object.fromEntries(inBody) } }),
  }
}

const roomParameters: readonly JsonSchema[] = [RoomType.exclude(singleTypes), AnyRoomId].map((schema) =>
  schemaWriter('draft-2020-12', {}).input(schema),
)

const branchesOf = (schema: JsonSchema): JsonSchema[] =>
  ((schema.anyOf ?? schema.oneOf ?? schema.allOf) as JsonSchema[] | undefined)?.flatMap(branchesOf) ?? [schema]

/** The fields of an input, through the branches of a union; required where every branch asks for them. */
function fieldsOf(input: JsonSchema): Record<string, { schema: JsonSchema; isRequired: boolean }> {
  const branches = branchesOf(input)
  const fields = branches.flatMap(({ properties }) => Object.entries((properties ?? {}) as Record<string, JsonSchema>))
  const isRequired = (name: string) =>
    branches.every(({ required }) => (required as string[] | undefined)?.includes(name))
  return Object.fromEntries(fields.map(([name, schema]) => [name, { schema, isRequired: isRequired(name) }]))
}

/** The input without what the path says. */
function bodyOf(schema: JsonSchema, inPath: ReadonlySet<string>): JsonSchema {
  const body = { ...schema }
  for (const union of ['anyOf', 'oneOf', 'allOf'] as const)
    if (body[union]) body[union] = (body[union] as JsonSchema[]).map((branch) => bodyOf(branch, inPath))
  if (body.properties) {
    const kept = Object.entries(body.properties).filter(([name]) => !inPath.has(name))
    body.properties = Object.fromEntries(kept)
  }
  const required = Array.isArray(body.required) ? body.required.filter((name) => !inPath.has(String(name))) : []
  return required.length > 0 ? { ...body, required } : without(body, 'required')
}
