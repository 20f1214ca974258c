import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, Id, Link, nameLine, Time, text } from '#shared/kit/primitives'

/** How an operation for those who may talk to an agent is refused. */
export const visibleAgentErrors = ['AGENT_NOT_FOUND', 'AGENT_PRIVATE', 'AGENT_FRIENDS_ONLY'] as const

/** How an operation for the owner of an agent is refused. */
export const ownAgentErrors = ['AGENT_NOT_FOUND', 'AGENT_PRIVATE'] as const

/** Headers that select the host, the framing or the client cannot be set by users. */
const ownedHeaders =
  /^(host|content-.+|transfer-encoding|te|trailer|connection|keep-alive|upgrade|expect|cookie2?|set-cookie|forwarded|via|x-forwarded-.+|x-real-ip|proxy-.+|mcp-.+|accept-encoding|__proto__|constructor|prototype)$/i

const HeaderName = z
  .string()
  .max(64, { error: 'Invalid header name' })
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, { error: 'Invalid header name' })
  .refine((name) => !ownedHeaders.test(name), { error: 'This header cannot be set' })
const secret = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\x20-\x7e]*$/, { error: 'Invalid characters' })
const Headers = z
  .record(HeaderName, secret(2048))
  .refine((headers) => Object.keys(headers).length <= 20, { error: 'At most 20 headers' })

const ToolUrl = z
  .url({ protocol: /^https$/, error: 'Invalid https URL' })
  .max(2048)
  .refine((url) => !/^https:\/\/[^/?#]*@/i.test(url), { error: 'Keys do not belong in a URL' })

/** Write-only. Omitted values stay while the entry keeps its origin. Null or an empty value removes them. */
const secrets = { headers: Headers.nullable().optional(), apiKey: secret(4096).nullable().optional() }
const said = {
  name: nameLine(1, 100, 'Name is required'),
  /** Of an API, `{name}` in its path stands for what the model fills in there. */
  url: ToolUrl,
  description: text(500).nullish(),
  instructions: text(2000).nullish(),
}
const unique = <T>(key: (entry: T) => string) =>
  [
    (entries: readonly T[]) => new Set(entries.map(key)).size === entries.length,
    { error: 'Each may be there once' },
  ] as const

const longestSchema = 20_000
/** What an API says of itself: text, or JSON. */
const ApiSchema = z
  .union([z.string(), z.record(z.string(), z.unknown()).transform((schema) => JSON.stringify(schema))])
  .refine((schema) => schema.length <= longestSchema, { error: `At most ${longestSchema} characters` })

const apiTypes = ['graphql', 'openapi', 'rest'] as const

/** Those after `POST` change what is there: such an API is not used where `allowChanges` is not on. */
export const apiMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const queries: readonly string[] = ['GET', 'POST']

export const McpServerInput = z.object({ id: Id, ...said, ...secrets })
export const ApiToolInput = z
  .object({
    ...said,
    method: z.enum(apiMethods),
    /** Everybody who may use the agent may then make it change data. */
    allowChanges: z.boolean().nullish(),
    apiType: z.enum(apiTypes).nullish(),
    schema: ApiSchema.nullish(),
    ...secrets,
  })
  .refine(({ method, apiType }) => apiType !== 'graphql' || queries.includes(method), {
    error: 'GraphQL is asked by GET or POST',
  })
export type McpServerInput = z.output<typeof McpServerInput>
export type ApiToolInput = z.output<typeof ApiToolInput>

/** Fields of an agent. An entry is the same as before where its id, or its name, is. */
export const toolFields = {
  mcpServers: z
    .array(McpServerInput)
    .max(10)
    .refine(...unique<McpServerInput>(({ id }) => id))
    .optional(),
  apiTools: z
    .array(ApiToolInput)
    .max(10)
    .refine(...unique<ApiToolInput>(({ name }) => name))
    .optional(),
}

const shown = {
  name: z.string(),
  url: Link,
  description: z.string().nullable(),
  instructions: z.string().nullable(),
  hasApiKey: z.boolean(),
  /** The names alone. */
  headerNames: z.array(z.string()),
}
export const shownTools = {
  mcp_servers: z.array(z.object({ id: z.string(), ...shown })),
  api_tools: z.array(
    z.object({
      ...shown,
      method: z.enum(apiMethods),
      allowChanges: z.boolean(),
      apiType: z.enum(apiTypes),
      schema: z.string().nullable(),
    }),
  ),
}

/** Of `agents`: what its owner does with its tools. */
export const agentTools = {
  testTool: operation({
    summary: 'Try a tool server or an API of an agent: what it offers or answers, and how long that took.',
    http: 'POST /api/agents/:id/tools/test',
    socket: '/agents agent:tool-test',
    access: 'user',
    limit: 'ai',
    cost: 'cheap',
    repeat: 'harmless',
    input: z
      .object({
        id: Id,
        userAddress: CallerAddress,
        /** The id of a tool server; without it, `apiName` is the name of an API tool. */
        serverId: Id.optional(),
        apiName: z.string().max(100).optional(),
      })
      .refine(({ serverId, apiName }) => (serverId === undefined) !== (apiName === undefined), {
        error: 'Either serverId or apiName',
      }),
    output: z.object({
      success: z.boolean(),
      ms: z.number().int(),
      /** What a tool server offers; one whose schema cannot be checked is not used. */
      tools: z.array(z.object({ name: z.string(), description: z.string(), usable: z.boolean() })),
      /** The beginning of what an API answered. */
      answer: z.string().nullable(),
      error: z.string().nullable(),
    }),
    errors: [...ownAgentErrors, 'NOT_FOUND'],
    errorBody: 'text',
  }),

  detectApi: operation({
    summary: 'Find out what kind of API is behind a URL: 30 times a minute, which are no questions to agents.',
    http: 'POST /api/agents/detect-api',
    socket: '/agents agent:detect-api',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({
      url: ToolUrl,
      apiKey: secret(4096).optional(),
      headers: Headers.optional(),
      userAddress: CallerAddress,
    }),
    output: z.object({
      apiType: z.enum(apiTypes),
      confidence: z.enum(['high', 'medium', 'low']),
      message: z.string(),
      /** What it says of itself, shortened; null where it says nothing. */
      schema: z.string().nullable(),
      detectedAt: Time,
    }),
    errors: ['INVALID_PARAMETER'],
    errorBody: 'text',
  }),
}
