import { lengthOf } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { streamTexts as t } from '../texts/streams.ts'
import { Badge } from './badge.tsx'
import styles from './directory.module.css'
import { isFound, StreamCard } from './stream-card.tsx'
import { useLiveNow } from './use-stream.ts'

/** Who is live now, by viewers. */
export function Directory({ search = '', children }: { search?: string; children?: React.ReactNode }) {
  const live = useLiveNow()
  if (!live?.streams) return live?.error ? <Problem error={live.error} /> : <Skeleton label={t.looking} />
  if (live.streams.length === 0)
    return (
      <Blank icon="play" title={t.nobody}>
        <p>{t.nobodyHint}</p>
        {children}
      </Blank>
    )
  const found = live.streams.filter((stream) => isFound(search, stream))
  if (found.length === 0) return <p className="hint">{t.noneFound}</p>
  return (
    <ul className={styles.liveCards} aria-label={t.now}>
      {found.map((stream) => {
        const { id, started_at, viewer_count } = stream
        const seconds = started_at && Math.max(60, (Date.now() - Date.parse(started_at)) / 1_000)
        return (
          <StreamCard key={id} stream={stream}>
            <Badge state={{ ...stream, stream_id: id, v: 0 }} />
            <span>{t.watching({ count: viewer_count })}</span>
            <span>{seconds && t.since({ time: lengthOf(seconds) })}</span>
          </StreamCard>
        )
      })}
    </ul>
  )
}
