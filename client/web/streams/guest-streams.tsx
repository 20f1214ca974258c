import '../kit/frame.css'
import { useEffect, useState } from 'react'
import { linkTo } from '#shared/kit/pages'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import { isolated } from '../kit/format.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Directory } from './directory.tsx'
import { type Replayed, ReplayedChat } from './ended.tsx'
import { ReadChat, useNewest } from './read-chat.tsx'
import { Stage } from './stage.tsx'
import styles from './streams.module.css'
import { useStream } from './use-stream.ts'

/** The livestreams for who is not signed in. */
export function GuestStreams({ stream, onEnter }: { stream: string | null; onEnter: () => void }) {
  return (
    <div className={styles.guestStreams}>
      <header className={`room-head ${styles.guestHead}`}>
        <a className="plain-link" href={linkTo('home')} aria-label="Plaza" title="Plaza">
          <Wordmark />
        </a>
        <span className="grow" />
        {stream !== null && (
          <a className="button small plain" href={linkTo('live')}>
            {t.now}
          </a>
        )}
        <ThemeButton />
        <button type="button" className="button small main" onClick={onEnter}>
          {t.signIn}
        </button>
      </header>
      {stream !== null ? (
        <Watched key={stream} id={stream} onEnter={onEnter} />
      ) : (
        <main className={styles.livePage} aria-labelledby="live-title">
          <h1 id="live-title">{t.now}</h1>
          <Directory />
        </main>
      )}
    </div>
  )
}

function Watched({ id, onEnter }: { id: string; onEnter: () => void }) {
  const view = useStream(id)
  const [replayed, setReplayed] = useState<Replayed | null>(null)
  const isMissing = view?.error?.code === 'STREAM_NOT_FOUND'
  const title = view?.state?.title
  useEffect(() => {
    if (title !== undefined) document.title = `${isolated(title)} · Plaza`
  }, [title])
  return (
    <div className={`${styles.streamRoom} ${isMissing ? 'missing' : ''}`}>
      <Stage view={view} onReplay={setReplayed} />
      {replayed ? (
        <ReplayedChat id={id} replayed={replayed} onClose={() => setReplayed(null)} />
      ) : (
        !isMissing && <GuestChat id={id} title={title ?? t.livestream} onEnter={onEnter} />
      )}
    </div>
  )
}

function GuestChat({ id, title, onEnter }: { id: string; title: string; onEnter: () => void }) {
  const newest = useNewest(id)
  return (
    <main className="room" aria-label={isolated(title)}>
      <header className="room-head">
        <div className="grow">
          <h1 tabIndex={-1}>{isolated(title)}</h1>
          <p className="room-facts">{t.chat.title}</p>
        </div>
      </header>
      <ReadChat messages={newest} empty={t.chat.empty}>
        <p className={`row ${styles.readSay}`}>
          <button type="button" className="button grow" onClick={onEnter}>
            {t.chat.signIn}
          </button>
        </p>
      </ReadChat>
    </main>
  )
}
