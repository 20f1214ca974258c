import { useState } from 'react'
import type { StreamCount, StreamView } from '#client/sdk/streams'
import { isSameAccount } from '#shared/kit/accounts'
import { useAccount } from '../connection/client.ts'
import { Avatar } from '../kit/avatar.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { Blank, Skeleton } from '../kit/notice.tsx'
import { problemText } from '../kit/problem.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Badge } from './badge.tsx'
import { Ended, type Replayed } from './ended.tsx'
import { OwnStream } from './own-stream.tsx'
import { notPlaying, type Playing } from './play.ts'
import { Player } from './player.tsx'
import styles from './stage.module.css'
import { behindText, streamProblems } from './stream-words.ts'
import streamsStyles from './streams.module.css'
import { Studio } from './studio.tsx'

/** What is seen of a stream: its picture, what its streamer works with, or its recordings. */
export function Stage(props: { view: StreamView | null; onReplay: (replayed: Replayed | null) => void }) {
  const { view, onReplay } = props
  const account = useAccount()
  const [playing, setPlaying] = useState<Playing>(notPlaying)
  /** Of a change here: a description is not told to who watches. */
  const [edited, setEdited] = useState<{ description: string | null } | null>(null)
  const { error, stream, state, counts } = view ?? { error: null, stream: null, state: null, counts: null }
  if (!view || !stream || !state)
    return (
      <section className={styles.stage} aria-label={t.livestream}>
        {error ? (
          <Blank icon="warn" title={t.player.missing}>
            <p role="alert">{problemText(error, streamProblems)}</p>
          </Blank>
        ) : (
          <Skeleton label={t.player.opening} />
        )}
      </section>
    )
  const { streamer } = stream
  const name = nameOf(streamer.display_name, streamer.address)
  const isOwn = isSameAccount(streamer.address, account)
  const { description } = edited ?? stream
  return (
    <section className={styles.stage} aria-label={t.livestream}>
      {state.status === 'ended' ? (
        <Ended stream={stream} state={state} assets={view.assets} onReplay={onReplay} />
      ) : isOwn ? (
        <Studio stream={stream} state={state} counts={counts} health={view.health} />
      ) : (
        <Player stream={stream} state={state} onPlaying={setPlaying} />
      )}
      <div className={styles.stageFoot}>
        <Avatar id={streamer.address} name={streamer.display_name} />
        <div className="grow">
          <h2>{isolated(state.title)}</h2>
          <p className={streamsStyles.stageFacts}>
            <Badge state={state} />
            <span>{name}</span>
            {counts && <Watching counts={counts} isOver={state.status === 'ended'} />}
            {playing.latency !== null && <span className="numerals">{behindText(playing.latency)}</span>}
          </p>
          {description && (
            <p className={styles.stageAbout} dir="auto">
              {isolated(description)}
            </p>
          )}
          {isOwn && (
            <div className={styles.stageActs}>
              <OwnStream id={stream.id} described={{ title: state.title, description }} onDescribed={setEdited} />
            </div>
          )}
        </div>
      </div>
    </section>
  )
}

function Watching({ counts, isOver }: { counts: StreamCount; isOver: boolean }) {
  const { viewers, peak, unique } = counts
  return (
    <span className="numerals">
      {isOver ? t.viewers({ count: unique, peak }) : t.watchingPeak({ count: viewers, peak })}
    </span>
  )
}
