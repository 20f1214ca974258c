import { lazy, useEffect, useRef, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import type { Room } from '#shared/api/rooms/room'
import type { PublicStream } from '#shared/api/streams/stream-records'
import type { RoomRef } from '#shared/kit/primitives'
import { useClient } from '../../connection/client.ts'
import { isolated } from '../../kit/format.ts'
import { LazyBoundary } from '../../kit/lazy-boundary.tsx'
import { Problem } from '../../kit/notice.tsx'
import { type Listing, useLoaded } from '../../kit/use-loaded.ts'
import { kindOf } from '../../rooms/kind.ts'
import { welcomeTexts as t } from '../../texts/welcome.ts'
import { linkToStep, tourSteps } from '../../tour/steps.ts'
import tourListStyles from '../../tour/tour-list.module.css'
import { ThemeButton } from '../appearance/theme-button.tsx'
import type { ServerStatus } from '../session.ts'
import { SignIn } from '../sign-in/sign-in.tsx'
import livePreviewStyles from './live-preview.module.css'
import { RoomPreview } from './room-preview.tsx'
import styles from './welcome.module.css'
import { Wordmark } from './wordmark.tsx'

const LiveStage = lazy(async () => ({ default: (await import('../../streams/live-stage.tsx')).LiveStage }))
const againMilliseconds = 2_000

/** Who is live, asked for until somebody is; null until the first answer. What follows is told to the stage. */
function useFirstLive(): readonly PublicStream[] | null {
  const client = useClient()
  const [streams, setStreams] = useState<readonly PublicStream[] | null>(null)
  const isFound = streams !== null && streams.length > 0
  useEffect(() => {
    if (isFound) return
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      const found = document.hidden ? null : await client.streams.directory({ limit: 1 }).catch(() => null)
      if (isOver) return
      setStreams((before) => found?.streams ?? before ?? [])
      timer = setTimeout(ask, againMilliseconds)
    }
    void ask()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [client, isFound])
  return streams
}

/** The stream that most people watch, with its chat, from when it is scrolled to: its parts are loaded then. */
function LivePreview({ onLook }: { onLook: (stream?: string) => void }) {
  const place = useRef<HTMLElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (!place.current) return
    const seeing = new IntersectionObserver((entries) => setSeen(entries.some(({ isIntersecting }) => isIntersecting)))
    seeing.observe(place.current)
    return () => seeing.disconnect()
  }, [])
  return (
    <section className={livePreviewStyles.livePreview} aria-label={t.live} ref={place}>
      <LazyBoundary>{isSeen && <LiveStage onLook={onLook} />}</LazyBoundary>
    </section>
  )
}

const ContactDialog = lazy(async () => ({ default: (await import('../../support/contact-form.tsx')).ContactDialog }))

const InvitationFacts = lazy(async () => ({ default: (await import('./invitation-facts.tsx')).InvitationFacts }))

const publicRoom: RoomRef = { type: 'alpha', id: null }

/** The sign-in, beside what visitors can see: the room of the address, else the public room. */
export function Welcome(props: {
  room: RoomRef | null
  /** What the address opens after the sign-in. */
  hint: string | null
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
  const invitation = location.pathname.split('/invite/')[1]
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
          {invitation ? (
            <LazyBoundary>
              <InvitationFacts token={invitation} />
            </LazyBoundary>
          ) : (
            <h1>{room ? isolated(room.name) : isOpening ? '\u00a0' : t.pitch}</h1>
          )}
          {room ? <RoomFacts room={room} /> : !isOpening && !invitation && !props.hint && <p>{t.pitchMore}</p>}
          {props.hint && <p>{props.hint}</p>}
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

type LinkState =
  | { state: 'opening' }
  | { state: 'asking'; email: string; open: () => void; leave: () => void }
  | { state: 'failed'; error: unknown }

/**
 * When the page was opened by a sign-in link: removes the token from the address at once, and uses it. If the link was not
 * requested in this browser, the person is asked first, as somebody else's link would sign them in as somebody else.
 */
function useSignInLink(onEnter: (user: SignInUser) => void): LinkState | null {
  const client = useClient()
  const [link, setLink] = useState<LinkState | null>(null)
  const enter = useRef(onEnter)
  enter.current = onEnter
  useEffect(() => {
    const { token, redirect } = takeLink()
    if (token === null) return
    const fail = (error: unknown) => setLink({ state: 'failed', error })
    const open = () => {
      setLink({ state: 'opening' })
      client.email.openLink({ token, updates: false }).then((answer) => {
        enter.current(client.enter(answer))
        if (redirect !== null) location.assign(redirect)
      }, fail)
    }
    setLink({ state: 'opening' })
    client.email.checkLink({ token }).then(({ email, asked_here }) => {
      if (asked_here) open()
      else setLink({ state: 'asking', email, open, leave: () => setLink(null) })
    }, fail)
  }, [client])
  return link
}

function takeLink(): { token: string | null; redirect: string | null } {
  const { searchParams: given, pathname, hash } = new URL(location.href)
  if (given.get('sign-in') !== 'email') return { token: null, redirect: null }
  history.replaceState(null, '', pathname + hash)
  const redirect = given.get('redirect')
  const isOurs = redirect !== null && new URL(redirect, location.origin).origin === location.origin
  return { token: given.get('token'), redirect: isOurs ? redirect : null }
}

/** The list of the tour's steps, on the welcome screen. */
function TourList() {
  return (
    <nav className={tourListStyles.tour} aria-labelledby="tour-title">
      <p id="tour-title" className="label">
        {t.tour}
      </p>
      <ol>
        {tourSteps.map(({ name }) => (
          <li key={name}>
            <a href={linkToStep(name)}>{t.steps[name]}</a>
          </li>
        ))}
      </ol>
    </nav>
  )
}
