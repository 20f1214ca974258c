import { linkTo } from '#shared/kit/pages'
import { AgentHead } from '../agents/agent-head.tsx'
import { Icon } from '../kit/icon.tsx'
import { goTo } from '../rooms/route.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Directory } from './directory.tsx'
import { GoLive } from './go-live.tsx'
import styles from './streams.module.css'

export function LiveView({ path }: { path: 'now' | 'new' }) {
  if (path === 'new') return <GoLive />
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: t.back, go: () => goTo(null) }}>
        <a className="button small main" href={linkTo('liveNew')}>
          <Icon name="plus" />
          {t.goLive}
        </a>
      </AgentHead>
      <div className={styles.livePage}>
        <Directory>
          <a className="button small" href={linkTo('liveNew')}>
            {t.goLive}
          </a>
        </Directory>
      </div>
    </main>
  )
}
