import { type ReactNode, useContext, useState } from 'react'
import type { QueueItem } from '#shared/api/moderation/moderation-records'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useNames } from '../accounts/names.ts'
import { useOpenPerson } from '../accounts/person-of-interest.ts'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { askedOnce } from '../kit/asked-once.ts'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { problemText } from '../kit/problem.ts'
import { type Listing, useLoaded } from '../kit/use-loaded.ts'
import styles from '../media/media.module.css'
import { MediaFault } from '../media/media-fault.tsx'
import { SealedPicture } from '../media/picture.tsx'
import { VoicePlayer } from '../media/voice-player.tsx'
import { evidenceOf } from '../media/words.ts'
import { kindOf } from '../rooms/kind.ts'
import { RoomContext } from '../rooms/room-context.ts'
import { linkToRoom } from '../rooms/route.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { valueText, valueTexts } from '../texts/values.ts'
import { isIn } from './use-moderation.ts'

/** What waits for a decision in this room, and, for who moderates everywhere, in other places. */
export function QueueTab(props: { queue: Listing<readonly QueueItem[]>; elsewhere: Listing<readonly QueueItem[]> }) {
  const { queue, elsewhere } = props
  const isElsewhere = (elsewhere.value?.length ?? 0) > 0 || elsewhere.error !== null
  const empty = isElsewhere ? null : (
    <Blank icon="check" title={t.queue.empty}>
      <p>{t.queue.emptyHint}</p>
    </Blank>
  )
  return (
    <>
      <Listed loaded={queue} empty={empty}>
        {(items) => <QueueCards items={items} />}
      </Listed>
      {isElsewhere && (
        <section className="stack" aria-labelledby="elsewhere">
          <h3 className="label" id="elsewhere">
            {t.queue.elsewhere}
          </h3>
          <Listed loaded={elsewhere} empty={null}>
            {(items) => <QueueCards items={items} />}
          </Listed>
        </section>
      )}
    </>
  )
}

/** What waits for a decision, in an open room or outside of every room. */
export const QueueCards = ({ items }: { items: readonly QueueItem[] }) => (
  <ul className="cards">
    {items.map((item) => (
      <QueueCard key={item.id} item={item} />
    ))}
  </ul>
)

function QueueCard({ item }: { item: QueueItem }) {
  const client = useClient()
  const open = useOpenPerson()
  const { account } = useSession()
  const here = useContext(RoomContext)
  const isHere = here !== null && isIn(item, roomKey(here.live.ref))
  const nameFor = useNames([item.reporter_address, item.reported_address, item.claimed_by].filter((id) => id !== null))
  const isMine = isSameAccount(item.claimed_by, account)
  const decide = (decision: 'action_taken' | 'dismissed') => client.moderation.decide({ item: item.id, decision })

  const name = nameFor(item.reported_address)
  const person = (parts: ReactNode) => (
    <button
      type="button"
      className="inline"
      title={item.reported_address}
      onClick={() => open({ id: item.reported_address, name, role: null, live: here?.live ?? null })}
    >
      {parts}
    </button>
  )
  const { reporter_address: from } = item
  const reporter = (parts: ReactNode) => <span title={from ?? ''}>{parts}</span>
  const about = from
    ? t.queue.fromAbout({ from: nameFor(from), name, person, reporter })
    : t.queue.about({ name, person })

  return (
    <li className="card">
      <p className="row wrap">
        <span className={`chip ${item.kind === 'flag' ? 'warm' : 'grave'}`}>
          {valueText(valueTexts.reports, item.report_type)}
        </span>
        <time className="hint" dateTime={item.created_at}>
          {fullTimeOf(item.created_at)}
        </time>
      </p>
      {item.message_content && (
        <blockquote className="quoted" dir="auto">
          {evidenceOf(item.message_content)}
        </blockquote>
      )}
      {item.message_content_by === 'reporter' && <p className="hint">{t.queue.byReporter}</p>}
      {item.evidence && <Evidence item={item.id} evidence={item.evidence} />}
      {item.description && <p dir="auto">{item.description}</p>}
      {item.room && !isHere && <OfRoom room={item.room} />}
      <p className="hint">
        {about}
        {item.claimed_by &&
          ` · ${isMine ? t.queue.claimedByYou : t.queue.claimedBy({ name: nameFor(item.claimed_by) })}`}
      </p>
      <div className="row wrap">
        <ActButton
          className="button small"
          aria-pressed={isMine}
          onPress={() => client.moderation.claim({ item: item.id, on: !isMine })}
        >
          {isMine ? t.queue.unclaim : t.queue.claim}
        </ActButton>
        <ActButton className="button small" onPress={() => decide('action_taken')}>
          {t.queue.resolve}
        </ActButton>
        <ActButton className="button small plain" onPress={() => decide('dismissed')}>
          {t.queue.dismiss}
        </ActButton>
        {item.message_id && isHere && (
          <button type="button" className="button small plain" onClick={() => here.jumpTo(item.message_id ?? '')}>
            {t.queue.show}
          </button>
        )}
        {item.room && !isHere && kindOf(item.room).hasModerators && (
          <a className="button small plain" href={linkToRoom(item.room)}>
            {t.queue.openRoom}
          </a>
        )}
      </div>
    </li>
  )
}

/** The name of the room that a report is from. Direct messages have none. */
export function OfRoom({ room }: { room: RoomRef }) {
  const client = useClient()
  const { hasModerators } = kindOf(room)
  const key = `reported-in ${roomKey(room)}`
  const { value } = useLoaded(key, async () =>
    hasModerators ? askedOnce(client, key, async () => (await client.rooms.get({ room })).room.name) : null,
  )
  return value && <p className="hint">{t.queue.inRoom({ room: isolated(value) })}</p>
}

/** The media that were handed in with a report; loaded when a moderator asks for them, as nobody sees such a picture by surprise. */
function Evidence({ item, evidence }: { item: string; evidence: NonNullable<QueueItem['evidence']> }) {
  const client = useClient()
  const [isShown, setShown] = useState(false)
  const isVoice = evidence.type.startsWith('audio/')
  const open = async () => {
    const { data, type } = await client.moderation.evidence({ item })
    return new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type })
  }
  return (
    <div>
      {!isShown ? (
        <button type="button" className="button small" onClick={() => setShown(true)}>
          {isVoice ? t.evidence.listen : t.evidence.show}
        </button>
      ) : isVoice ? (
        <Sound open={open} />
      ) : (
        <SealedPicture open={open} kind="photo" alt={t.evidence.picture} />
      )}
      <p className="hint">{evidence.is_as_sent ? t.evidence.verified : t.evidence.unverified}</p>
    </div>
  )
}

function Sound({ open }: { open: () => Promise<Blob> }) {
  const { value, error, reload } = useLoaded('voice', open)
  if (error) return <MediaFault text={problemText(error)} onRetry={reload} />
  return (
    <div className={styles.voiceFrame}>
      {value ? <VoicePlayer sound={value} seconds={0} /> : <span className={styles.pictureWaits} role="status" />}
    </div>
  )
}
