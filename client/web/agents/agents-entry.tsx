import { Icon } from '../kit/icon.tsx'
import { linkToAgents } from '../rooms/route.ts'

/** The way from the rooms to the agents. */
export function AgentsEntry({ path }: { path: readonly string[] | null }) {
  return (
    <nav className="agents-entry" aria-label="Agents">
      <a className="room-row" href={linkToAgents()} aria-current={path ? 'page' : undefined}>
        <span className="room-mark">
          <Icon name="agent" />
        </span>
        <span className="grow">
          <span className="room-name">Agents</span>
          <small className="room-last">Ask one, or make your own</small>
        </span>
      </a>
    </nav>
  )
}
