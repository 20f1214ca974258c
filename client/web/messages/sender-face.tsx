import { isAgent } from '#shared/kit/room-agents'
import { AgentFace } from '../agents/agent-face.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { useAgentEmoji } from '../rooms/room-agents.ts'

/** The picture of who speaks in the open room: a person's, or the emoji of an agent. */
export function SenderFace(props: { id: string; name: string; isOnline?: boolean; picture?: string | null }) {
  const emoji = useAgentEmoji(props.id, isAgent(props.id))
  return emoji === null ? <Avatar {...props} /> : <AgentFace emoji={emoji} />
}
