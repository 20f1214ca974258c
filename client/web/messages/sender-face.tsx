import { isAgent } from '#shared/kit/room-agents'
import { AgentFace } from '../agents/agent-face.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { useRoomAgent } from '../rooms/room-agents.ts'

/** The picture of who speaks in the open room; of an agent without one, its emoji. */
export function SenderFace(props: { id: string; name: string; isOnline?: boolean; picture?: string | null }) {
  const agent = useRoomAgent(props.id, isAgent(props.id))
  if (agent && !agent.avatar_url) return <AgentFace emoji={agent.avatar_emoji} />
  return <Avatar {...props} picture={agent?.avatar_url ?? props.picture ?? null} />
}
