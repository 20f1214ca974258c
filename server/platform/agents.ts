import type { Config } from '#server/config'
import type { Services } from '#server/kernel/context'
import type { Database } from '#server/ports/database/port'
import { vectorSearch } from '#server/ports/database/vectors'
import { localEmbedder } from '#server/ports/model/local-embedder'
import type { Embedder, Model } from '#server/ports/model/port'
import { scriptedModel } from '#server/ports/model/scripted'
import { graphqlData } from '#server/ports/platform-data/graphql'
import { processReader } from '#server/ports/reader/local'
import { mcpServers } from '#server/ports/tool-servers/mcp'
import { guardedWeb } from '#server/ports/web/guarded'
import type { PartsOf } from './part.ts'

type OfAgents = 'model' | 'embedder' | 'vectors' | 'toolServers' | 'platformData' | 'web' | 'reader'

export async function openAgents(config: Config, database: Database) {
  const web = guardedWeb(config.egressHosts)
  const reader = processReader()
  const services: Pick<Services, OfAgents> = {
    model: await openModel(config),
    embedder: await openEmbedder(config),
    vectors: database.kind === 'mongodb' ? vectorSearch('knowledge_chunks') : null,
    toolServers: mcpServers,
    platformData: config.platformGraphqlUrl === undefined ? null : graphqlData(config.platformGraphqlUrl),
    web,
    reader,
  }
  return {
    services,
    async close() {
      await web.close()
      await reader.close()
    },
  }
}

async function openModel({ model }: Config): Promise<Model | null> {
  if (model === null || model === 'scripted') return model && scriptedModel()
  const open = await adapterOf(model.api)
  return { ...open(model), others: model.others.map((name) => open({ ...model, model: name })) }
}

async function adapterOf(api: 'chat' | 'responses') {
  if (api === 'responses') return (await import('#server/ports/model/openai-responses')).openaiResponses
  return (await import('#server/ports/model/openai')).openaiModel
}

async function openEmbedder({ embedding }: Config): Promise<Embedder> {
  if (embedding === null) return localEmbedder()
  const { openaiEmbedder } = await import('#server/ports/model/openai-embedder')
  return openaiEmbedder(embedding)
}

export const agentsParts: PartsOf<OfAgents> = {
  model: ({ model }) => {
    if (model === null) return { part: 'model', adapter: 'none', why: 'MODEL_API_KEY is not set: agents answer 503' }
    return model === 'scripted'
      ? { part: 'model', adapter: model, why: 'a script answers for agents; MODEL_API_KEY without MODEL asks a model' }
      : {
          part: 'model',
          adapter: `${model.model} at ${new URL(model.baseUrl).host}`,
          why: `MODEL_API_KEY is set; asked by MODEL_API=${model.api}`,
        }
  },
  embedder: ({ embedding }) =>
    embedding === null
      ? { part: 'embedder', adapter: 'local', why: 'EMBEDDING_MODEL is not set: texts are compared by their words' }
      : { part: 'embedder', adapter: embedding.model, why: 'EMBEDDING_MODEL is set' },
  vectors: ({ mongodbUri }) =>
    mongodbUri === undefined
      ? {
          part: 'search',
          adapter: 'exact',
          why: 'MONGODB_URI is not set: the process compares all that an agent knows',
        }
      : {
          part: 'search',
          adapter: 'by the database, or exact',
          why: 'MONGODB_URI is set: where it can search vectors',
        },
  toolServers: () => ({ part: 'tools', adapter: 'mcp', why: 'agents ask the tool servers that their owners name' }),
  platformData: ({ platformGraphqlUrl: url }) =>
    url === undefined
      ? { part: 'platform data', adapter: 'none', why: 'PLATFORM_GRAPHQL_URL is not set: agents have no such tool' }
      : { part: 'platform data', adapter: new URL(url).host, why: 'PLATFORM_GRAPHQL_URL is set' },
  reader: () => ({ part: 'reader', adapter: 'processes', why: 'what strangers wrote is read beside the server' }),
  web: ({ egressHosts }) =>
    egressHosts === null
      ? { part: 'web', adapter: 'guarded', why: 'EGRESS_HOSTS is not set: people may name any public host' }
      : { part: 'web', adapter: 'guarded', why: `EGRESS_HOSTS is set: ${egressHosts.join(', ')}` },
}
