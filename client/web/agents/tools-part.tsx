import { useState } from 'react'
import type { PlazaApi } from '#client/sdk/table'
import type { OwnAgent } from '#shared/api/agents/agent-records'
import type { OutputOf } from '#shared/kit/contract'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank } from '../kit/notice.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import styles from './agents.module.css'
import { AddTool, EditTool, type ToolFields, type ToolKind } from './tool-forms.tsx'

type Tested = OutputOf<PlazaApi['agents']['testTool']>
interface Tool extends ToolFields {
  kind: ToolKind
  key: string
  hasApiKey: boolean
  headerNames: readonly string[]
}
type Api = OwnAgent['api_tools'][number]
type Shown = OwnAgent['mcp_servers'][number] | Api

const toolOf = (kind: ToolKind, key: string, shown: Shown): Tool => ({
  ...{ kind, key, name: shown.name, url: shown.url, hasApiKey: shown.hasApiKey, headerNames: shown.headerNames },
  description: shown.description ?? '',
  instructions: shown.instructions ?? '',
  apiKey: '',
  headers: '',
  ...('method' in shown
    ? { method: shown.method, allowChanges: shown.allowChanges, schema: shown.schema ?? '' }
    : { method: '' as const, allowChanges: false, schema: '' }),
})

const toolsOf = (agent: OwnAgent): Tool[] => [
  ...agent.mcp_servers.map((server) => toolOf('server', server.id, server)),
  ...agent.api_tools.map((api) => toolOf('api', api.name, api)),
]

/** What is said of a tool, as it is sent. */
const saidOf = ({ description, instructions, apiKey, headers }: ToolFields) => ({
  description: description.trim() || null,
  instructions: instructions.trim() || null,
  ...(apiKey === '' ? {} : { apiKey }),
  ...(headers.trim() === '' ? {} : { headers: headersIn(headers) }),
})

/** The same of an API, with how it is asked. */
const askedOf = (given: ToolFields, usual: Pick<Api, 'method' | 'schema'>) => ({
  ...saidOf(given),
  method: given.method || usual.method,
  allowChanges: given.allowChanges,
  schema: given.schema.trim() || usual.schema,
})

function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      if (at < 1) throw new Error(t.faults.header)
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

/** Fields of an entry that is there, as it is sent: its keys stay as they are, as nothing is said of them. */
const keptServers = (agent: OwnAgent) =>
  agent.mcp_servers.map(({ id, name, url, description, instructions }) => ({
    id,
    name,
    url,
    description,
    instructions,
  }))
const keptApis = (agent: OwnAgent) =>
  agent.api_tools.map(({ name, url, description, instructions, method, allowChanges, apiType, schema }) => ({
    name,
    url,
    description,
    instructions,
    method,
    allowChanges,
    apiType,
    schema,
  }))

const isSecureAddress = (url: string): boolean => URL.canParse(url) && new URL(url).protocol === 'https:'

/** The tool servers and APIs that an agent may ask, each with a test. */
export function ToolsPart({ agent, onSaved }: { agent: OwnAgent; onSaved: (agent: OwnAgent) => void }) {
  const client = useClient()
  const tools = toolsOf(agent)
  const change = async (changed: Omit<Parameters<typeof client.agents.update>[0], 'id'>) =>
    onSaved((await client.agents.update({ id: agent.id, ...changed })).agent)

  const remove = ({ kind, key }: Tool) =>
    kind === 'server'
      ? change({ mcpServers: keptServers(agent).filter(({ id }) => id !== key) })
      : change({ apiTools: keptApis(agent).filter(({ name }) => name !== key) })
  const add = async (kind: ToolKind, given: ToolFields) => {
    const { name, url, apiKey } = given
    if (!isSecureAddress(url)) throw new Error(t.faults.toolAddress)
    const said = saidOf(given)
    if (kind === 'server') {
      const id = crypto.randomUUID()
      return change({ mcpEnabled: true, mcpServers: [...keptServers(agent), { id, name, url, ...said }] })
    }
    const { headers } = said
    const { apiType, schema } = await client.agents.detectApi({
      url,
      ...(apiKey === '' ? {} : { apiKey }),
      ...(headers && { headers }),
    })
    const method = apiType === 'graphql' ? 'POST' : 'GET'
    return change({
      apiEnabled: true,
      apiTools: [...keptApis(agent), { name, url, apiType, ...askedOf(given, { method, schema }) }],
    })
  }
  const edit = ({ kind, key }: Tool, given: ToolFields) =>
    kind === 'server'
      ? change({ mcpServers: keptServers(agent).map((one) => (one.id === key ? { ...one, ...saidOf(given) } : one)) })
      : change({
          apiTools: keptApis(agent).map((one) =>
            one.name === key ? { ...one, ...askedOf(given, { method: one.method, schema: null }) } : one,
          ),
        })

  return (
    <div className="stack">
      <AddTool counts={{ server: agent.mcp_servers.length, api: agent.api_tools.length }} onAdd={add} />
      {tools.length === 0 ? (
        <Blank icon="plug" title={t.tools.none}>
          <p>{t.tools.noneHint}</p>
        </Blank>
      ) : (
        <ul className={styles.agentItems} aria-label={t.tools.list}>
          {tools.map((tool) => (
            <ToolRow
              key={`${tool.kind} ${tool.key}`}
              agentId={agent.id}
              tool={tool}
              onEdit={(given) => edit(tool, given)}
              onRemove={() => remove(tool)}
            />
          ))}
        </ul>
      )}
    </div>
  )
}

function ToolRow(props: {
  agentId: string
  tool: Tool
  onEdit: (given: ToolFields) => Promise<void>
  onRemove: () => Promise<void>
}) {
  const client = useClient()
  const { agentId, tool, onEdit, onRemove } = props
  const [isEdited, setEdited] = useState(false)
  const [tested, setTested] = useState<Tested | null>(null)
  const test = async () => {
    setTested(null)
    const which = tool.kind === 'server' ? { serverId: tool.key } : { apiName: tool.key }
    setTested(await client.agents.testTool({ id: agentId, ...which }))
  }
  return (
    <li>
      <div className="grow">
        <strong>{isolated(tool.name)}</strong>
        <small>{t.tools.facts({ key: tool.hasApiKey ? 'yes' : 'no', kind: t.kinds[tool.kind], url: tool.url })}</small>
        {tool.description && (
          <p className={styles.itemState} dir="auto">
            {tool.description}
          </p>
        )}
        {tested && (
          <p className={`${styles.itemState} ${tested.success ? 'indexed' : 'failed'}`} role="status">
            {!tested.success
              ? t.tools.failed({ ms: tested.ms, reason: tested.error ?? t.tools.noReason })
              : tool.kind === 'server'
                ? t.tools.workedWith({ ms: tested.ms, count: tested.tools.length })
                : t.tools.worked({ ms: tested.ms })}
          </p>
        )}
        {tested?.success && tested.tools.length > 0 && <small>{tested.tools.map(({ name }) => name).join(', ')}</small>}
      </div>
      <ActButton className="button small" aria-label={t.tools.testOf({ name: tool.name })} onPress={test}>
        {t.tools.test}
      </ActButton>
      <button
        type="button"
        className="icon-button small"
        aria-label={t.tools.editOf({ name: tool.name })}
        title={t.tools.edit}
        onClick={() => setEdited(true)}
      >
        <Icon name="pencil" />
      </button>
      <ActButton
        className="icon-button small"
        aria-label={t.tools.removeOf({ name: tool.name })}
        title={t.tools.remove}
        onPress={onRemove}
      >
        <Icon name="bin" />
      </ActButton>
      {isEdited && <EditTool tool={tool} onSave={onEdit} onClose={() => setEdited(false)} />}
    </li>
  )
}
