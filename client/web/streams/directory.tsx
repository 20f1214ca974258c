import { Avatar } from '../kit/avatar.tsx'
import { isolated, lengthOf, nameOf } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { linkToRoom } from '../rooms/route.ts'
import { Badge } from './badge.tsx'
import styles from './directory.module.css'
import { useLiveNow } from './use-stream.ts'

/** Who is live now, by viewers. */
export function Directory({ children }: { children?: React.ReactNode }) {
  const live = useLiveNow()
  if (!live?.streams) return live?.error ? <Problem error={live.error} /> : <Skeleton label="Looking who is live" />
  if (live.streams.length === 0)
    return (
      <Blank icon="play" title="Nobody is live at the moment">
        <p>A stream is listed here as soon as its picture comes.</p>
        {children}
      </Blank>
    )
  return (
    <ul className={styles.liveCards} aria-label="Live now">
      {live.streams.map(({ id, ...stream }) => {
        const { streamer, started_at, viewer_count } = stream
        const name = nameOf(streamer.display_name, streamer.address)
        const since = started_at ? `for ${lengthOf(Math.max(60, (Date.now() - Date.parse(started_at)) / 1_000))}` : ''
        return (
          <li key={id} className={styles.liveCard}>
            <Avatar id={streamer.address} name={streamer.display_name} size="large" />
            <div className="grow">
              <a href={linkToRoom({ type: 'stream', id })}>{isolated(stream.title)}</a>
              <p>{name}</p>
              <small className="row wrap numerals">
                <Badge state={{ ...stream, stream_id: id, v: 0 }} />
                <span>{viewer_count} watching</span>
                <span>{since}</span>
              </small>
            </div>
          </li>
        )
      })}
    </ul>
  )
}
