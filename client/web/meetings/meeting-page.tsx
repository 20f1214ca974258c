import { isJoinCode } from '#shared/api/meetings/meetings'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import '../kit/frame.css'
import { type ReactNode, useEffect, useState } from 'react'
import { AppError } from '#shared/errors'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { loadUser } from '../accounts/load-user.ts'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import { useAccount, useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import { type ProblemWords, problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { meetingTexts as t } from '../texts/meetings.ts'
import { Inside } from './inside.tsx'
import { Lobby } from './lobby.tsx'
import { Meeting } from './meeting.ts'
import styles from './meetings.module.css'
import type { OwnMedia } from './own-media.ts'
import { useCall } from './use-call.ts'

const words: ProblemWords = t.problems
const permanentWords: ProblemWords = { ...words, ROOM_NOT_FOUND: t.noRoom }
const hostWords = ({ displayName, isPresent }: { displayName: string; isPresent: boolean | null }) => {
  const name = isolated(displayName)
  if (isPresent === null) return t.host.named({ name })
  return isPresent ? t.host.present({ name }) : t.host.away({ name })
}

/** The name under which a guest was in a meeting, until the window is closed. */
const guestNameKey = 'plaza.guest-name'

/** A meeting, at an address that can be given to anybody: `/room/:code`. */
export function MeetingPage({ code }: { code: string }) {
  const client = useClient()
  const account = useAccount()
  useKeptFocus()
  const found = useLoaded(code, async () => {
    // A permanent room exists once its owner has asked for it.
    if (account !== null && isSameAccount(code, account)) await client.meetings.permanent({ wallet_address: account })
    return (await client.meetings.get({ code })).room
  })
  const user = useLoaded(account ?? 'guest', async () =>
    account === null ? null : ((await loadUser(client))?.user ?? null),
  )
  const call = useCall()
  const [meeting, setMeeting] = useState<Meeting | null>(null)
  const [why, setWhy] = useState<Meeting['state']['why']>(null)
  const { shown } = call
  const title = found.value && (shown?.name ?? isolated(found.value.title))
  useEffect(() => {
    if (title) document.title = `${title} · Plaza`
  }, [title])

  const enter = (displayName: string, own: OwnMedia) => {
    if (account === null) sessionStorage.setItem(guestNameKey, displayName)
    const token = async () => {
      const { token, url } = await client.meetings.token({ code, displayName })
      if (url !== null) throw new AppError('CONFLICT', { message: t.elsewhereAt({ host: new URL(url).host }) })
      return token
    }
    const entered = new Meeting({ url: location.origin, own, token })
    let wasAnswered = false
    entered.subscribe(() => {
      wasAnswered ||= entered.state.people.length > 0
      if (entered.state.phase !== 'over') return
      void call.end(wasAnswered)
      setWhy(entered.state.why)
      setMeeting(null)
    })
    setWhy(null)
    setMeeting(entered)
  }
  // A page that is left must not stay in the meeting.
  useEffect(() => {
    if (!meeting) return
    addEventListener('pagehide', meeting.leave)
    return () => removeEventListener('pagehide', meeting.leave)
  }, [meeting])

  if (!found.value || user.isLoading)
    return (
      <Frame title={t.title}>
        {found.error && !found.isLoading ? (
          <Blank icon="warn" title={t.notOpened}>
            <LoadProblem error={found.error} words={isJoinCode(code.toUpperCase()) ? words : permanentWords} />
            <button type="button" className="button small" onClick={found.reload}>
              {t.retry}
            </button>
          </Blank>
        ) : (
          <Skeleton label={t.loading} />
        )}
      </Frame>
    )
  const { host, ...room } = found.value
  const isHost = isSameAccount(host.address, account)
  // Whether the host is there is told by the pictures, once one is in.
  const hosted = hostWords(meeting ? { ...host, isPresent: null } : host)
  const facts = shown ? shown.words : isHost ? t.host.isYou : hosted
  const heading = shown?.name ?? room.title
  const cancel = async () => {
    await call.end(false)
    if (isHost) await client.meetings.end({ code }).catch(() => {})
    location.assign(linkTo('calls'))
  }
  if (meeting)
    return (
      <Frame title={heading} facts={facts}>
        <Inside
          meeting={meeting}
          alone={shown?.words ?? t.alone}
          host={isolated(host.displayName)}
          leaving={shown?.isRinging ? t.cancel : t.leave}
          onEnd={isHost ? () => client.meetings.end({ code }) : null}
          onRemove={isHost ? (peer) => client.meetings.remove({ code, peer }) : null}
        />
      </Frame>
    )
  const ownName = user.value ? (user.value.display_name ?? user.value.username) : sessionStorage.getItem(guestNameKey)
  const isOver = why === 'removed' || (why === 'ended' && !room.isPermanent)
  if (shown && !shown.isOn)
    return (
      <Frame title={heading}>
        <Blank icon="phone" title={shown.words}>
          <a className="button" href={linkTo('calls')}>
            {t.backToCalls}
          </a>
        </Blank>
      </Frame>
    )
  return (
    <Frame title={heading} facts={facts}>
      {shown?.isRinging && why === null && (
        <div className="banner" role="status">
          <Icon name="phone" />
          <span className="grow">{shown.words}</span>
          <ActButton className="button small risky" onPress={cancel}>
            {t.cancel}
          </ActButton>
        </div>
      )}
      {why !== null && (
        <p className="banner" role="status">
          {why instanceof AppError ? problemText(why, words) : t.over[why]}
        </p>
      )}
      {!isOver && <Lobby name={ownName ?? ''} onEnter={enter} />}
    </Frame>
  )
}

function Frame({ title, facts, children }: { title: string; facts?: string; children: ReactNode }) {
  return (
    <main className={`room ${styles.meetingPage}`} aria-label={isolated(title)}>
      <header className="room-head agent-head">
        <div className="grow">
          <h1 tabIndex={-1}>{isolated(title)}</h1>
          {facts && <p className="room-facts">{facts}</p>}
        </div>
        <ThemeButton />
        <a className="plain-link" href={linkTo('home')} aria-label="Plaza" title="Plaza">
          <Wordmark />
        </a>
      </header>
      {children}
    </main>
  )
}
