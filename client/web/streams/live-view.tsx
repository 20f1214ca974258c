import { linkTo } from '#shared/kit/pages'
import { AgentHead } from '../agents/agent-head.tsx'
import { Icon } from '../kit/icon.tsx'
import { goTo } from '../rooms/route.ts'
import { Directory } from './directory.tsx'
import { GoLive } from './go-live.tsx'
import styles from './streams.module.css'

export function LiveView({ path }: { path: 'now' | 'new' }) {
  if (path === 'new') return <GoLive />
  return (
    <main className="room" aria-label="Live">
      <AgentHead title="Live" back={{ title: 'Back to the rooms', go: () => goTo(null) }}>
        <a className="button small main" href={linkTo('liveNew')}>
          <Icon name="plus" />
          Go live
        </a>
      </AgentHead>
      <div className={styles.livePage}>
        <Directory>
          <a className="button small" href={linkTo('liveNew')}>
            Go live
          </a>
        </Directory>
      </div>
    </main>
  )
}
