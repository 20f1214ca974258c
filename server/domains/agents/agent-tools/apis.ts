import { createHash } from 'node:crypto'
import type { StoredApi } from '#server/domains/agents/agent-state/model'
import type { Node } from '#server/kernel/context'
import { textOf } from '#server/ports/web/port'
import { cut } from '#shared/kit/cut'
import { redactorOf } from './redaction.ts'
import { headersOf, unsealSecrets } from './secrets.ts'
import { apiPlace } from './stored.ts'
import { describedTool, type Tool } from './tool.ts'

const maxBytes = 1024 * 1024
const text = { type: 'string' }

/** The parameters of each kind of API. */
const parametersOf = {
  graphql: {
    type: 'object',
    properties: { query: { ...text, description: 'A GraphQL document' }, variables: { type: 'object' } },
    required: ['query'],
  },
  openapi: {
    type: 'object',
    properties: { body: { type: 'object', description: 'The fields of the request, as the API describes them' } },
    required: ['body'],
  },
  rest: {
    type: 'object',
    properties: { query: { ...text, description: 'What is looked for, in a few words' } },
    required: ['query'],
  },
}

const longestSchema = 4_000
const caution = 'It changes what is there: call it only where the user has asked for exactly that.'

/** The parameters of an API, with names in its path. */
function parametersFor(api: StoredApi) {
  const usual = isChangingApi(api) ? parametersOf.openapi : parametersOf[api.api_type]
  const names = namesInPath(api.url)
  if (names.length === 0) return usual
  const properties = Object.fromEntries(names.map((name) => [name, { ...text, minLength: 1, maxLength: 200 }]))
  const path = { type: 'object', properties, required: names }
  return { ...usual, properties: { ...usual.properties, path }, required: [...usual.required, 'path'] }
}

export function apiTool(node: Node, agent: string, api: StoredApi, question: readonly string[]): Tool {
  const schema = api.schema_text && `It describes itself so: ${cut(api.schema_text, longestSchema)}`
  const texts = [...(isChangingApi(api) ? [caution] : []), api.description, api.instructions]
  const shown = describedTool(api.name, 'api', texts, parametersFor(api))
  const description = schema ? `${shown.description}\n${schema}`.trim() : shown.description
  return {
    server: api.name,
    name: api.api_type,
    shown: { ...shown, description: redactorOf(secretsOf(node, agent, api), api.url)(description) },
    key: JSON.stringify([agent, api.name, api.url, api.method, api.sealed]),
    run: (given, signal) => callApi(node, agent, api, given, signal, keyOfCall(question, api.name, given)),
  }
}

const secretsOf = (node: Node, agent: string, api: StoredApi) =>
  unsealSecrets(node.settings.sessionKeys, apiPlace(agent, api), api.sealed)

/** Calls an API with its secrets, and returns its answer as text. */
export async function callApi(
  node: Node,
  agent: string,
  api: StoredApi,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  repeatKey = '',
): Promise<{ text: string; isError: boolean }> {
  if (!isAllowedApi(api)) return { text: 'The owner of this agent does not allow changes', isError: true }
  const secrets = secretsOf(node, agent, api)
  const fields = fieldsOf(api, given)
  const url = withPath(api.url, (given.path ?? {}) as Record<string, unknown>)
  if (url === null) return { text: 'Something in the path is missing', isError: true }
  const { method } = api
  const once = isChangingApi(api) ? { 'idempotency-key': repeatKey } : {}
  const headers = { accept: 'application/json, text/*', ...once, ...headersOf(secrets) }
  const request = { method, headers, maxBytes, signal }
  const answer =
    method === 'GET' || method === 'DELETE'
      ? await node.services.web.ask(withQuery(url, fields), request)
      : await node.services.web.ask(url, { ...request, body: JSON.stringify(fields) })
  const isError = answer.status >= 300
  const answerText = redactorOf(secrets, api.url)(textOf(answer))
  return { text: isError ? `${answer.status}: ${answerText}` : answerText, isError }
}

function fieldsOf(api: StoredApi, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { path: _, ...rest } = given
  if (api.api_type === 'graphql') return rest
  if (api.api_type === 'openapi' || isChangingApi(api)) return (given.body ?? {}) as Record<string, unknown>
  return { query: given.query, message: given.query, text: given.query }
}

function withQuery(url: string, fields: Readonly<Record<string, unknown>>): string {
  const asked = new URL(url)
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) asked.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return asked.href
}

/** Whether calling an API changes what is there, by its method. */
export const isChangingApi = ({ method }: Pick<StoredApi, 'method'>): boolean => method !== 'GET' && method !== 'POST'

/** Whether the owner allows the API to be called. */
export const isAllowedApi = (api: StoredApi): boolean => !isChangingApi(api) || api.allow_changes === true

const inBraces = /%7B(\w{1,64})%7D/gi

/** The parameters in the path of a URL: `{id}` in `https://example.com/items/{id}`. */
export const namesInPath = (url: string): string[] => [
  ...new Set([...new URL(url).pathname.matchAll(inBraces)].map(([, name = '']) => name)),
]

/** Null if a parameter is missing, or would change the path. */
function withPath(url: string, given: Readonly<Record<string, unknown>>): string | null {
  const filled = new URL(url)
  const values = namesInPath(url).map((name) => [name, String(given[name] ?? '')] as const)
  if (values.some(([, value]) => /^\.{0,2}$/.test(value) || !value.isWellFormed())) return null
  const known = new Map(values)
  filled.pathname = filled.pathname.replace(inBraces, (_, name: string) => encodeURIComponent(known.get(name) ?? ''))
  return filled.href
}

/** Equal for equal calls of one question, so that the API recognizes repeats. */
const keyOfCall = (question: readonly string[], tool: string, given: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([...question, tool, given]))
    .digest('base64url')
