import { lazy, useEffect, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import type { Room } from '#shared/api/rooms/room'
import type { RoomRef } from '#shared/kit/primitives'
import { useClient } from '../../connection/client.ts'
import { isolated } from '../../kit/format.ts'
import { LazyBoundary } from '../../kit/lazy-boundary.tsx'
import { Problem } from '../../kit/notice.tsx'
import { type Listing, useLoaded } from '../../kit/use-loaded.ts'
import { kindOf } from '../../rooms/kind.ts'
import { welcomeTexts as t } from '../../texts/welcome.ts'
import { TourList } from '../../tour/tour-list.tsx'
import { ThemeButton } from '../appearance/theme-button.tsx'
import type { ServerStatus } from '../session.ts'
import { SignIn } from '../sign-in/sign-in.tsx'
import { useSignInLink } from '../sign-in/sign-in-link.ts'
import { LivePreview, useFirstLive } from './live-preview.tsx'
import { RoomPreview } from './room-preview.tsx'
import styles from './welcome.module.css'
import { Wordmark } from './wordmark.tsx'

const ContactDialog = lazy(async () => ({ default: (await import('../../support/contact-form.tsx')).ContactDialog }))

const publicRoom: RoomRef = { type: 'alpha', id: null }

/** The sign-in, beside what visitors can see: the room of the address, else the public room. */
export function Welcome(props: {
  room: RoomRef | null
  status: Listing<ServerStatus>
  endedBy: string | null
  onEnter: (user: SignInUser) => void
  onLook: (stream?: string) => void
}) {
  const link = useSignInLink(props.onEnter)
  const { value: status, error, isLoading, reload } = props.status
  // Elements that depend on the status are rendered together with it, so that the layout does not shift.
  const isKnown = !isLoading
  const streams = useFirstLive()
  const [isWriting, setWriting] = useState(false)
  const { room, isOpening } = useVisitedRoom(props.room)
  const preview =
    room && props.room && kindOf(props.room).readers === 'anyone'
      ? { ref: props.room, name: room.name }
      : { ref: publicRoom, name: t.preview.room }

  return (
    <main className={styles.welcome}>
      <section className={styles.welcomeWords}>
        <header className="row">
          <Wordmark />
          <span className="grow" />
          <button type="button" className="button small plain" onClick={() => props.onLook()}>
            {t.live}
          </button>
          <ThemeButton />
        </header>
        <div className={styles.welcomePitch}>
          <h1>{room ? isolated(room.name) : isOpening ? '\u00a0' : t.pitch}</h1>
          {room ? <RoomFacts room={room} /> : !isOpening && <p>{t.pitchMore}</p>}
          {status?.notice && (
            <p className="hint" role="status">
              <bdi>{status.notice}</bdi>
            </p>
          )}
          {props.endedBy && link === null && (
            <p className="hint" role="status">
              {t.ended}
            </p>
          )}
          {location.pathname.startsWith('/invite/') && (
            <p className="hint" role="status">
              {t.invited}
            </p>
          )}
          {link?.state === 'opening' && (
            <p className="hint" role="status">
              {t.openingLink}
            </p>
          )}
          {link?.state === 'asking' && (
            <section className="stack" aria-label={t.link.title}>
              <p>{t.link.question({ email: isolated(link.email) })}</p>
              <div className="row wrap">
                <button type="button" className="button main" onClick={link.open}>
                  {t.link.open({ email: isolated(link.email) })}
                </button>
                <button type="button" className="button" onClick={link.leave}>
                  {t.link.leave}
                </button>
              </div>
            </section>
          )}
          {link?.state === 'failed' && <Problem error={link.error} />}
          <Problem error={error} onRetry={reload} />
          <SignIn status={status} onEnter={props.onEnter} />
          {status?.demo && <TourList />}
        </div>
        {status?.contact && (
          <div className="row">
            <button type="button" className="button small plain" onClick={() => setWriting(true)}>
              {t.contact}
            </button>
          </div>
        )}
        <LazyBoundary>{isWriting && <ContactDialog onClose={() => setWriting(false)} />}</LazyBoundary>
        {isKnown && (
          <dl className={styles.welcomeFacts}>
            <Fact term={t.facts.verdictTitle} text={t.facts.verdict} />
            <Fact term={t.facts.orderTitle} text={t.facts.order} />
            <Fact term={t.facts.lossTitle} text={t.facts.loss} />
          </dl>
        )}
      </section>
      {isKnown && streams !== null && (
        <div className={styles.welcomeSide}>
          {streams.length > 0 && !props.room && <LivePreview onLook={props.onLook} />}
          {!isOpening && (
            <RoomPreview key={room?.id} room={preview.ref} name={preview.name} isDemo={status?.demo ?? false} />
          )}
        </div>
      )}
    </main>
  )
}

/** The room that a visitor came for; null if there is none, or if strangers may not see it. */
function useVisitedRoom(room: RoomRef | null): { room: Room | null; isOpening: boolean } {
  const client = useClient()
  const { value, isLoading } = useLoaded(JSON.stringify(room), async () =>
    room ? (await client.rooms.get({ room })).room : null,
  )
  const name = value?.name
  useEffect(() => {
    if (name !== undefined) document.title = `${name} · Plaza`
  }, [name])
  return { room: value, isOpening: isLoading && room !== null }
}

function RoomFacts({ room: { topic, description, member_count } }: { room: Room }) {
  const about = topic || description
  return (
    <>
      {about && <p dir="auto">{about}</p>}
      <p className="hint">{t.room.members({ count: member_count })}</p>
      <p>{t.room.join}</p>
    </>
  )
}

function Fact({ term, text }: { term: string; text: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{text}</dd>
    </div>
  )
}
