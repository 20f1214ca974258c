import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { momentOf } from '../kit/moment.ts'
import { Listed } from '../kit/notice.tsx'
import { usePages } from '../kit/use-pages.ts'
import { controlTexts } from '../texts/controls.ts'
import { streamTexts as t } from '../texts/streams.ts'
import styles from './directory.module.css'
import { isFound, StreamCard } from './stream-card.tsx'

/** Streams that have ended, newest first; those without any picture are left out. */
export function PastStreams({ search }: { search: string }) {
  const client = useClient()
  const { more, ...past } = usePages('past-streams', async (cursor) => {
    const page = await client.streams.list({ status: 'ended', ...(cursor && { cursor }) })
    return { items: page.streams.filter(({ reason }) => reason !== 'never_published'), next_cursor: page.next_cursor }
  })
  return (
    <section className={styles.pastStreams} aria-labelledby="past-streams">
      <h2 id="past-streams">{t.past}</h2>
      <Listed loaded={past} empty={<p className="hint">{t.noPast}</p>}>
        {(all) => {
          const found = all.filter((stream) => isFound(search, stream))
          if (found.length === 0) return <p className="hint">{t.noneFound}</p>
          return (
            <ul className={styles.liveCards}>
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
