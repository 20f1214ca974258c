import { type ReactNode, useContext } from 'react'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { SessionContext } from '../accounts/session.ts'
import { Avatar } from '../kit/avatar.tsx'
import { isolated, lengthOf, nameOf } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { linkToRoom } from '../rooms/route.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Badge } from './badge.tsx'
import styles from './directory.module.css'
import { useLiveNow } from './use-stream.ts'

type Carded = Pick<PublicStream, 'id' | 'title' | 'streamer'>

const nameIn = ({ display_name, address }: Carded['streamer']) => nameOf(display_name, address)

/** Whether a search finds a stream, by its title or its streamer. */
export function isFound(search: string, { title, streamer }: Carded): boolean {
  const words = search.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  const text = `${title} ${nameIn(streamer)}`.toLocaleLowerCase()
  return words.every((word) => text.includes(word))
}

/** One stream in a list, with what is said of it. */
export function StreamCard({ stream: { id, title, streamer }, children }: { stream: Carded; children: ReactNode }) {
  return (
    <li className={styles.liveCard}>
      <StreamerAvatar streamer={streamer} />
      <div className="grow">
        <a href={linkToRoom({ type: 'stream', id })}>{isolated(title)}</a>
        <p>{nameIn(streamer)}</p>
        <small className="row wrap numerals">{children}</small>
      </div>
    </li>
  )
}

/** The picture is shown to who is signed in: only then is it known where this server stores pictures. */
function StreamerAvatar({ streamer }: Pick<Carded, 'streamer'>) {
  const isSignedIn = useContext(SessionContext) !== null
  if (isSignedIn) return <PicturedAvatar streamer={streamer} />
  return <Avatar id={streamer.address} name={streamer.display_name} size="large" />
}

function PicturedAvatar({ streamer: { address, display_name, avatar_url } }: Pick<Carded, 'streamer'>) {
  const picture = useStoredPicture(avatar_url)
  return <Avatar id={address} name={display_name} picture={picture} size="large" />
}

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
