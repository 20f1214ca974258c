import { type FormEvent, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { linkTo } from '#shared/kit/pages'
import { AgentHead } from '../agents/agent-head.tsx'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { momentOf } from '../kit/moment.ts'
import { Listed, Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { usePages } from '../kit/use-pages.ts'
import { goTo } from '../rooms/route.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { controlTexts } from '../texts/controls.ts'
import { streamTexts as t } from '../texts/streams.ts'
import directoryStyles from './directory.module.css'
import { Directory, isFound, StreamCard } from './directory.tsx'
import styles from './streams.module.css'
import { streamProblems } from './use-stream.ts'

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

/** Streams that have ended, newest first; those without any picture are left out. */
function PastStreams({ search }: { search: string }) {
  const client = useClient()
  const { more, ...past } = usePages('past-streams', async (cursor) => {
    const page = await client.streams.list({ status: 'ended', ...(cursor && { cursor }) })
    return { items: page.streams.filter(({ reason }) => reason !== 'never_published'), next_cursor: page.next_cursor }
  })
  return (
    <section className={directoryStyles.pastStreams} aria-labelledby="past-streams">
      <h2 id="past-streams">{t.past}</h2>
      <Listed loaded={past} empty={<p className="hint">{t.noPast}</p>}>
        {(all) => {
          const found = all.filter((stream) => isFound(search, stream))
          if (found.length === 0) return <p className="hint">{t.noneFound}</p>
          return (
            <ul className={directoryStyles.liveCards}>
              {found.map((stream) => (
                <StreamCard key={stream.id} stream={stream}>
                  {stream.ended_at && <time dateTime={stream.ended_at}>{momentOf(stream.ended_at)}</time>}
                  <span>{t.viewers({ count: stream.unique_viewers, peak: stream.peak_viewers })}</span>
                </StreamCard>
              ))}
            </ul>
          )
        }}
      </Listed>
      {more && (
        <ActButton className="button small" onPress={more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </section>
  )
}

/** Opens a stream of one's own; its page is where it is published. */
function GoLive() {
  const client = useClient()
  const { reload } = useRoomList()
  const tell = useTell()
  const [title, setTitle] = useState('')
  const [record, setRecord] = useState(false)
  const beta = useLoaded('beta', async () => (await client.betaAccess.get()).hasBetaAccess)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const open = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(null)
    try {
      const wanted = title.trim()
      const { stream, existing } = await client.streams.create({ record, ...(wanted ? { title: wanted } : {}) })
      if (existing) tell(t.create.existing)
      reload()
      goTo({ type: 'stream', id: stream.id })
    } catch (cause) {
      setError(cause)
      setBusy(false)
    }
  }
  return (
    <main className="room" aria-label={t.goLive}>
      <AgentHead
        title={t.goLive}
        back={{
          title: t.create.back,
          isAlways: true,
          go: () => navigate(linkTo('live')),
        }}
      />
      <form className={`${styles.livePage} narrow stack wide`} onSubmit={open}>
        <label className="field">
          <span>{t.create.title}</span>
          <input
            dir="auto"
            className="input"
            maxLength={100}
            placeholder={t.create.titleHint}
            value={title}
            onChange={({ target }) => setTitle(target.value)}
          />
        </label>
        {beta.value && (
          <label className="check">
            <input type="checkbox" checked={record} onChange={({ target }) => setRecord(target.checked)} />
            {t.create.record}
          </label>
        )}
        <p className="hint" id="go-live-hint">
          {t.create.hint}
        </p>
        <Problem error={error} words={streamProblems} />
        <div className="row">
          <button
            type="submit"
            className="button main"
            aria-describedby="go-live-hint"
            aria-disabled={isBusy || undefined}
          >
            {t.create.next}
          </button>
        </div>
      </form>
    </main>
  )
}
