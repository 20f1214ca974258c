import { Avatar } from '../kit/avatar.tsx'
import { isolated, lengthOf, nameOf } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { linkToRoom } from '../rooms/route.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Badge } from './badge.tsx'
import styles from './directory.module.css'
import { useLiveNow } from './use-stream.ts'

/** Who is live now, by viewers. */
export function Directory({ children }: { children?: React.ReactNode }) {
  const live = useLiveNow()
  if (!live?.streams) return live?.error ? <Problem error={live.error} /> : <Skeleton label={t.looking} />
  if (live.streams.length === 0)
    return (
      <Blank icon="play" title={t.nobody}>
        <p>{t.nobodyHint}</p>
        {children}
      </Blank>
    )
  return (
    <ul className={styles.liveCards} aria-label={t.now}>
      {live.streams.map(({ id, ...stream }) => {
        const { streamer, started_at, viewer_count } = stream
        const name = nameOf(streamer.display_name, streamer.address)
        const seconds = started_at && Math.max(60, (Date.now() - Date.parse(started_at)) / 1_000)
        return (
          <li key={id} className={styles.liveCard}>
            <Avatar id={streamer.address} name={streamer.display_name} size="large" />
            <div className="grow">
              <a href={linkToRoom({ type: 'stream', id })}>{isolated(stream.title)}</a>
              <p>{name}</p>
              <small className="row wrap numerals">
                <Badge state={{ ...stream, stream_id: id, v: 0 }} />
                <span>{t.watching({ count: viewer_count })}</span>
                <span>{seconds && t.since({ time: lengthOf(seconds) })}</span>
              </small>
            </div>
          </li>
        )
      })}
    </ul>
  )
}
