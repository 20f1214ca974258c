import { z } from 'zod'
import { ConfigError, commaList, decimalNumber, hosts, nameOrId, webUrl } from '#server/kernel/settings'

/** What agents answer by, and what they and others ask of the web. */
export const agentsVariables = z.object({
  MODEL: z
    .enum(['scripted'], { error: 'must be scripted, or left out: MODEL_NAME names the model of a server' })
    .optional(),
  MODEL_API_KEY: z.string().min(1).optional(),
  MODEL_BASE_URL: webUrl.default('https://api.openai.com/v1'),
  MODEL_NAME: nameOrId.default('gpt-4.1-mini'),
  MODEL_CHOICES: commaList.refine((names) => names.every((name) => nameOrId.safeParse(name).success), {
    error: 'must be names of models separated by commas',
  }),
  MODEL_API: z.enum(['chat', 'responses'], { error: 'must be chat or responses' }).default('chat'),
  EMBEDDING_MODEL: nameOrId.optional(),
  EMBEDDING_DIMENSIONS: decimalNumber(z.number().int().min(1).max(8_192)).default(1_536),
  PLATFORM_GRAPHQL_URL: webUrl.optional(),
  EGRESS_HOSTS: hosts,
})

type Given = z.output<typeof agentsVariables>

export interface AgentsConfig {
  /** Null where agents cannot answer. */
  model: ModelConfig | 'scripted' | null
  /** Null where texts are compared by their words. */
  embedding: { baseUrl: string; apiKey: string; model: string; dimensions: number } | null
  /** Where agents look up data of the platform. */
  platformGraphqlUrl: string | undefined
  /** The hosts that URLs of people may name; null where that is any public one. */
  egressHosts: readonly string[] | null
}

interface ModelConfig {
  /** The interface of its server: chat completions, or Responses with a search of the web. */
  api: 'chat' | 'responses'
  baseUrl: string
  apiKey: string
  model: string
  /** Models of the same server that owners can choose for their agents. */
  others: readonly string[]
}

export const agentsOf = (env: Given, production: boolean): AgentsConfig => ({
  model: modelOf(env, production),
  embedding: embeddingOf(env),
  platformGraphqlUrl: env.PLATFORM_GRAPHQL_URL,
  egressHosts: env.EGRESS_HOSTS.length === 0 ? null : env.EGRESS_HOSTS.map((host) => host.toLowerCase()),
})

const scripted = 'scripted'

/** In production nobody is answered by a script that was not asked for by its name. */
function modelOf(env: Given, production: boolean): AgentsConfig['model'] {
  const apiKey = env.MODEL_API_KEY
  if (apiKey === scripted) throw new ConfigError('MODEL_API_KEY is no key: MODEL=scripted asks for the script.')
  if (env.MODEL === scripted) return scripted
  if (apiKey === undefined) return production ? null : scripted
  const model = env.MODEL_NAME
  const others = [...new Set(env.MODEL_CHOICES)].filter((name) => name !== model)
  return { api: env.MODEL_API, baseUrl: env.MODEL_BASE_URL, apiKey, model, others }
}

function embeddingOf(env: Given): AgentsConfig['embedding'] {
  const {
    MODEL_API_KEY: apiKey,
    MODEL_BASE_URL: baseUrl,
    EMBEDDING_MODEL: model,
    EMBEDDING_DIMENSIONS: dimensions,
  } = env
  if (model === undefined) return null
  if (apiKey === undefined)
    throw new ConfigError('EMBEDDING_MODEL needs a MODEL_API_KEY: the server that makes vectors asks for it.')
  return { baseUrl, apiKey, model, dimensions }
}
