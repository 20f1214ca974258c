import { AgentChat } from './agent-chat.tsx'
import { AgentEdit } from './agent-edit.tsx'
import { AgentNew } from './agent-new.tsx'
import { AgentsHome } from './agents-home.tsx'

export function AgentsView({ path }: { path: readonly string[] }) {
  const [id, part, conversation = null] = path
  if (id === undefined) return <AgentsHome />
  if (id === 'new') return <AgentNew />
  if (part === 'edit') return <AgentEdit key={id} id={id} />
  return <AgentChat key={id} id={id} conversation={conversation} />
}
