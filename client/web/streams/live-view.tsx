import { useState } from 'react'
import { linkTo } from '#shared/kit/pages'
import { AgentHead } from '../agents/agent-head.tsx'
import { Icon } from '../kit/icon.tsx'
import { goTo } from '../rooms/route.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Directory } from './directory.tsx'
import { GoLive } from './go-live.tsx'
import { PastStreams } from './past-streams.tsx'
import styles from './streams.module.css'

export function LiveView({ path }: { path: 'now' | 'new' }) {
  return path === 'new' ? <GoLive /> : <LiveList />
}

/** Who is live and who was, as far as a search finds them. */
function LiveList() {
  const [search, setSearch] = useState('')
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: t.back, go: () => goTo(null) }}>
        <a className="button small main" href={linkTo('liveNew')}>
          <Icon name="plus" />
          {t.goLive}
        </a>
      </AgentHead>
      <div className={styles.livePage}>
        <input
          dir="auto"
          type="search"
          className={`input ${styles.liveSearch}`}
          aria-label={t.search}
          placeholder={t.search}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <Directory search={search}>
          <a className="button small" href={linkTo('liveNew')}>
            {t.goLive}
          </a>
        </Directory>
        <PastStreams search={search} />
      </div>
    </main>
  )
}
