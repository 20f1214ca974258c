import type { z } from 'zod'
import type { StoredApi, StoredEntry, StoredToolServer, StoredTools } from '#server/domains/agents/agent-state/model'
import type { Settings } from '#server/kernel/context'
import type { ApiToolInput, McpServerInput, shownTools } from '#shared/api/agents/agent-tools'
import { noSecrets, type SecretPlace, type Secrets, sealSecrets, unsealSecrets } from './secrets.ts'

type Keys = Settings['sessionKeys']
interface Given {
  mcpServers?: readonly McpServerInput[] | undefined
  apiTools?: readonly ApiToolInput[] | undefined
}

/** Stored lists of tools; secrets that were left out are kept from before. */
export function storedTools(keys: Keys, agent: string, given: Given, before: StoredTools): StoredTools {
  const { mcpServers, apiTools } = given
  return {
    ...(mcpServers && {
      mcp_servers: mcpServers.map((server) => ({
        id: server.id,
        ...entryOf(
          keys,
          { agent, field: 'mcp_servers', entry: server.id, url: server.url },
          server,
          before.mcp_servers?.find(({ id }) => id === server.id),
        ),
      })),
    }),
    ...(apiTools && {
      api_tools: apiTools.map((api) => ({
        method: api.method,
        allow_changes: api.allowChanges ?? false,
        api_type: api.apiType ?? 'rest',
        schema_text: api.schema ?? null,
        ...entryOf(
          keys,
          { agent, field: 'api_tools', entry: api.name, url: api.url },
          api,
          before.api_tools?.find(({ name }) => name === api.name),
        ),
      })),
    }),
  }
}

function entryOf(
  keys: Keys,
  place: SecretPlace,
  given: McpServerInput | ApiToolInput,
  before: StoredEntry | undefined,
): StoredEntry {
  const kept = before ? unsealSecrets(keys, place, before.sealed) : noSecrets
  const secrets: Secrets = {
    apiKey: given.apiKey === undefined ? kept.apiKey : given.apiKey || null,
    headers: given.headers === undefined ? kept.headers : (given.headers ?? {}),
  }
  return {
    name: given.name,
    url: given.url,
    description: given.description ?? null,
    instructions: given.instructions ?? null,
    sealed: sealSecrets(keys, place, secrets),
    has_api_key: secrets.apiKey !== null,
    header_names: Object.keys(secrets.headers),
  }
}

type Shown = { [Field in keyof typeof shownTools]: z.output<(typeof shownTools)[Field]> }

const shownEntry = ({ name, url, description, instructions, has_api_key, header_names }: StoredEntry) => ({
  name,
  url,
  description,
  instructions,
  hasApiKey: has_api_key,
  headerNames: header_names,
})

/** Tools as their owner sees them, without secrets. */
export const renderTools = ({ mcp_servers = [], api_tools = [] }: StoredTools): Shown => ({
  mcp_servers: mcp_servers.map((server) => ({ id: server.id, ...shownEntry(server) })),
  api_tools: api_tools.map((api) => ({
    ...shownEntry(api),
    method: api.method,
    allowChanges: api.allow_changes ?? false,
    apiType: api.api_type,
    schema: api.schema_text,
  })),
})

export const serverPlace = (agent: string, { id, url }: StoredToolServer): SecretPlace => ({
  agent,
  field: 'mcp_servers',
  entry: id,
  url,
})

export const apiPlace = (agent: string, { name, url }: StoredApi): SecretPlace => ({
  agent,
  field: 'api_tools',
  entry: name,
  url,
})
