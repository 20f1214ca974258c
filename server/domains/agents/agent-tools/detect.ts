import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { textOf } from '#server/ports/web/port'
import { cut } from '#shared/kit/cut'
import { redactorOf } from './redaction.ts'
import { headersOf } from './secrets.ts'

const timeoutMilliseconds = 6_000
const maxBytes = 1024 * 1024
const longestSchema = 8_000

interface Detected {
  apiType: 'graphql' | 'openapi' | 'rest'
  confidence: 'high' | 'medium' | 'low'
  message: string
  schema: string | null
}

interface Sought {
  url: string
  apiKey?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/** Detects the kind of an API by its answers, else by its URL. Throws INVALID_PARAMETER for a forbidden URL. */
export async function detectApi(
  node: Node,
  { url, apiKey, headers = {} }: Sought,
  signal: AbortSignal,
): Promise<Detected> {
  const { web } = node.services
  const { href, origin } = web.check(url)
  const secrets = { apiKey: apiKey ?? null, headers }
  const secretHeaders = headersOf(secrets)
  const ask = async (at: string, body?: string): Promise<unknown> => {
    const request = { headers: { accept: 'application/json', ...secretHeaders }, timeoutMilliseconds, maxBytes, signal }
    try {
      return JSON.parse(textOf(await web.ask(at, body === undefined ? request : { ...request, body })))
    } catch {
      signal.throwIfAborted()
      return null
    }
  }
  const places = [...new Set([href, `${origin}/openapi.json`, `${origin}/swagger.json`])]
  const [introspected, ...documents] = await Promise.all([
    ask(href, JSON.stringify({ query: introspection })),
    ...places.map((place) => ask(place)),
  ])
  const detected =
    graphqlOf(introspected) ?? documents.map(openapiOf).find((found) => found !== null) ?? detectByUrl(href)
  const schema = detected.schema && redactorOf(secrets, url)(detected.schema)
  return { ...detected, schema: schema && cut(schema.toWellFormed(), longestSchema) }
}

const introspection = '{ __schema { queryType { name } types { kind name fields { name args { name } } } } }'

const Introspected = z.object({
  data: z.object({
    __schema: z.object({
      types: z.array(
        z.object({
          kind: z.string(),
          name: z.string(),
          fields: z
            .array(z.object({ name: z.string(), args: z.array(z.object({ name: z.string() })).nullish() }))
            .nullish(),
        }),
      ),
    }),
  }),
})

function graphqlOf(answer: unknown): Detected | null {
  const read = Introspected.safeParse(answer).data
  if (!read) return null
  const types = read.data.__schema.types.filter(({ kind, name }) => kind === 'OBJECT' && !name.startsWith('__'))
  const lines = types.map(({ name, fields }) => {
    const names = (fields ?? []).map((field) => {
      const given = (field.args ?? []).map((argument) => argument.name).join(', ')
      return given ? `${field.name}(${given})` : field.name
    })
    return `${name} { ${names.join(' ')} }`
  })
  return found('graphql', 'high', 'It answers GraphQL introspection', lines.join('\n'))
}

const methods = ['get', 'post', 'put', 'patch', 'delete']
const Document = z.union([z.object({ openapi: z.string() }), z.object({ swagger: z.string() })])
const Paths = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

function openapiOf(answer: unknown): Detected | null {
  if (!Document.safeParse(answer).success) return null
  const paths = Object.entries(Paths.safeParse(answer).data?.paths ?? {})
  const lines = paths.flatMap(([path, item]) =>
    methods.flatMap((method) => {
      if (!(method in item)) return []
      const summary = z.object({ summary: z.string() }).safeParse(item[method]).data?.summary ?? ''
      return `${method.toUpperCase()} ${path} ${summary}`.trim()
    }),
  )
  return found('openapi', 'high', 'It has an OpenAPI document', lines.join('\n'))
}

function detectByUrl(url: string): Detected {
  if (/\/(graphql|gql)\b/i.test(url)) return found('graphql', 'medium', 'The URL looks like GraphQL', null)
  if (/\b(openapi|swagger|api-docs)\b/i.test(url)) return found('openapi', 'medium', 'The URL looks like OpenAPI', null)
  return found('rest', 'low', 'It is taken for a REST API, as nothing says otherwise', null)
}

const found = (
  apiType: Detected['apiType'],
  confidence: Detected['confidence'],
  message: string,
  schema: string | null,
): Detected => ({ apiType, confidence, message, schema })
