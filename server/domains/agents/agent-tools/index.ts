import { ownAgent } from '#server/domains/agents/agent-state/access'
import type { StoredAgent, StoredApi } from '#server/domains/agents/agent-state/model'
import { type Actions, type Node, signedIn } from '#server/kernel/context'
import { refusalFrom } from '#server/kernel/http/deadline'
import type { ReadDocument, Turn } from '#server/ports/reader/port'
import type { agentTools as contract } from '#shared/api/agents/agent-tools'
import { AppError, errors } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { callApi, isChangingApi, namesInPath } from './apis.ts'
import { redactorOf } from './redaction.ts'
import { headersOf } from './secrets.ts'
import { refreshTools, toolServerOf } from './servers.ts'

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
async function detectApi(node: Node, { url, apiKey, headers = {} }: Sought, { of, signal }: Turn): Promise<Detected> {
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

const longestAnswer = 500
/** Each detection sends a few requests to the site. */
const detectionsAMinute = 30

export const agentToolActions: Actions<typeof contract> = {
  async testTool({ id, serverId, apiName }, context) {
    const { account } = signedIn(context)
    const agent = await ownAgent(context.node, account, id)
    const began = performance.now()
    const outcome = await attempt(() =>
      serverId === undefined
        ? tryApi(context.node, agent, apiName, context.signal)
        : tryServer(context.node, agent, serverId, context.signal),
    )
    return { ...outcome, ms: Math.round(performance.now() - began) }
  },

  async detectApi({ url, apiKey, headers }, context) {
    const { node, signal } = context
    const { account: of } = signedIn(context)
    const retryAfter = await node.limits.wait('detections', of, detectionsAMinute, 60)
    if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
    const detected = await detectApi(node, { url, apiKey, headers }, { of, signal })
    return { ...detected, detectedAt: new Date(node.now()).toISOString() }
  },
}

interface Outcome {
  success: boolean
  tools: { name: string; description: string; usable: boolean }[]
  answer: string | null
  error: string | null
}

/** A silent tool is an outcome; an unknown tool is refused. */
async function attempt(trying: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await trying()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') return failure(errors.TIMEOUT[1])
    const refusal = refusalFrom(error)
    if (!refusal || refusal.code === 'NOT_FOUND') throw error
    return failure(refusal.message)
  }
}

const failure = (error: string): Outcome => ({ success: false, tools: [], answer: null, error })

async function tryServer(node: Node, agent: StoredAgent, id: string, signal: AbortSignal): Promise<Outcome> {
  const stored = agent.mcp_servers?.find((server) => server.id === id)
  if (!stored) throw new AppError('NOT_FOUND')
  const offered = await refreshTools(node, toolServerOf(node, agent._id, stored), signal)
  const tools = offered.map(({ name, description, parameters }) => ({
    name,
    description: cut(description.toWellFormed(), longestAnswer),
    usable: parameters !== null,
  }))
  return { success: true, tools, answer: null, error: null }
}

async function tryApi(node: Node, agent: StoredAgent, name: string | undefined, signal: AbortSignal): Promise<Outcome> {
  const api = agent.api_tools?.find((one) => one.name === name)
  if (!api) throw new AppError('NOT_FOUND')
  if (isChangingApi(api)) return failure('A method that changes something is not tried')
  const { text, isError } = await callApi(node, agent._id, api, leastOf(api), signal)
  const answer = cut(text.toWellFormed(), longestAnswer)
  return isError ? failure(answer) : { success: true, tools: [], answer, error: null }
}

/** The smallest question to each kind of API. */
const leastOf = ({ api_type, url }: StoredApi): Readonly<Record<string, unknown>> => ({
  ...(api_type === 'graphql' ? { query: '{ __typename }' } : api_type === 'openapi' ? { body: {} } : { query: 'test' }),
  path: Object.fromEntries(namesInPath(url).map((name) => [name, 'test'])),
})
