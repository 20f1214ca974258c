import type { Node } from '#server/kernel/context'
import type { ReadDocument, Turn } from '#server/ports/reader/port'
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

/** Detects the kind of an API by its answers, in turns, else by its URL. Throws INVALID_PARAMETER for a forbidden URL. */
export async function detectApi(
  node: Node,
  { url, apiKey, headers = {} }: Sought,
  { of, signal }: Turn,
): Promise<Detected> {
  const { web, reader } = node.services
  const { href, origin } = web.check(url)
  const secrets = { apiKey: apiKey ?? null, headers }
  const secretHeaders = headersOf(secrets)
  const ask = async (at: string, body?: string): Promise<ReadDocument | null> => {
    const request = { headers: { accept: 'application/json', ...secretHeaders }, timeoutMilliseconds, maxBytes, signal }
    try {
      const answer = await web.ask(at, body === undefined ? request : { ...request, body })
      const declared = { type: answer.headers['content-type'] ?? '', path: '' }
      return await reader.read('api', answer.body, declared, { of, signal })
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
    foundAs('graphql', introspected) ??
    documents.map((answer) => foundAs('openapi', answer)).find((one) => one !== null) ??
    detectByUrl(href)
  const schema = detected.schema && redactorOf(secrets, url)(detected.schema)
  return { ...detected, schema: schema && cut(schema.toWellFormed(), longestSchema) }
}

const introspection = '{ __schema { queryType { name } types { kind name fields { name args { name } } } } }'

const messages = { graphql: 'It answers GraphQL introspection', openapi: 'It has an OpenAPI document' }

function foundAs(apiType: keyof typeof messages, answer: ReadDocument | null): Detected | null {
  return answer?.title === apiType ? found(apiType, 'high', messages[apiType], answer.text) : null
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
