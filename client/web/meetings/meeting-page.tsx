import '../styles/home.css'
import '../styles/meetings.css'
import { type ReactNode, useEffect, useState } from 'react'
import type { CallStatus } from '#shared/api/calls'
import { AppError } from '#shared/errors'
import { loadUser } from '../accounts/load-user.ts'
import { ThemeButton } from '../accounts/theme-button.tsx'
import { Wordmark } from '../accounts/wordmark.tsx'
import { useAccount, useClient } from '../connection/client.ts'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { Blank, Skeleton } from '../kit/notice.tsx'
import { type ProblemWords, problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { Inside } from './inside.tsx'
import { Lobby } from './lobby.tsx'
import { Meeting } from './meeting.ts'
import type { OwnMedia } from './own-media.ts'
import { useCall } from './use-call.ts'

const words: ProblemWords = {
  ROOM_NOT_FOUND: 'There is no such meeting. Check that the whole link was copied.',
  MEETING_ENDED: 'Its host has ended this meeting.',
  MEETING_EXPIRED: 'The time of this meeting is over.',
  MEETING_FULL: 'As many people are in this meeting as may be. Try again when somebody has left.',
  FORBIDDEN: 'The host has removed you from this meeting.',
  BLOCKED: 'You and the host of this meeting do not meet.',
}
const aloneWords: Partial<Record<CallStatus, string>> = {
  ringing: 'It rings there.',
  declined: 'The call was declined.',
  missed: 'Nobody answers.',
}
const alone = 'Nobody else is here yet. Who has the link can enter.'
const overWords = {
  ended: 'The host has ended the meeting.',
  elsewhere: 'You have entered it in another window.',
  removed: 'The host has removed you from this meeting.',
  left: 'You have left the meeting.',
}

/** The name under which a guest was in a meeting, until the window is closed. */
const guestNameKey = 'plaza.guest-name'

/** A meeting, at an address that can be given to anybody: `/room/:code`. */
export function MeetingPage({ code }: { code: string }) {
  const client = useClient()
  const account = useAccount()
  useKeptFocus()
  const found = useLoaded(code, async () => (await client.meetings.get({ code })).room)
  const user = useLoaded(account ?? 'guest', async () =>
    account === null ? null : ((await loadUser(client))?.user ?? null),
  )
  const call = useCall()
  const [meeting, setMeeting] = useState<Meeting | null>(null)
  const [why, setWhy] = useState<Meeting['state']['why']>(null)
  const title = found.value && isolated(found.value.title)
  useEffect(() => {
    if (title) document.title = `${title} · Plaza`
  }, [title])

  const enter = (displayName: string, own: OwnMedia) => {
    if (account === null) sessionStorage.setItem(guestNameKey, displayName)
    const token = async () => {
      const { token, url } = await client.meetings.token({ code, displayName })
      if (url !== null) throw new AppError('CONFLICT', { message: `This meeting is held at ${new URL(url).host}.` })
      return token
    }
    const entered = new Meeting({ url: location.origin, own, token })
    let wasAnswered = false
    entered.subscribe(() => {
      wasAnswered ||= entered.state.people.length > 0
      if (entered.state.phase !== 'over') return
      call.end(wasAnswered)
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
      <Frame title="Meeting">
        {found.error && !found.isLoading ? (
          <Blank icon="warn" title="This meeting cannot be opened">
            <p role="alert">{problemText(found.error, words)}</p>
            <button type="button" className="button small" onClick={found.reload}>
              Try again
            </button>
          </Blank>
        ) : (
          <Skeleton label="Opening the meeting" />
        )}
      </Frame>
    )
  const { host, ...room } = found.value
  const isHost = host.address === account
  const facts = isHost ? 'You are its host' : `With ${isolated(host.displayName)}`
  if (meeting)
    return (
      <Frame title={room.title} facts={facts}>
        <Inside
          meeting={meeting}
          alone={(call.status && aloneWords[call.status]) ?? alone}
          onEnd={isHost ? () => client.meetings.end({ code }) : null}
          onRemove={isHost ? (peer) => client.meetings.remove({ code, peer }) : null}
        />
      </Frame>
    )
  const ownName = user.value ? (user.value.display_name ?? user.value.username) : sessionStorage.getItem(guestNameKey)
  const isOver = why === 'removed' || (why === 'ended' && !room.isPermanent)
  return (
    <Frame title={room.title} facts={facts}>
      {why !== null && (
        <p className="banner" role="status">
          {why instanceof AppError ? problemText(why, words) : overWords[why]}
        </p>
      )}
      {!isOver && <Lobby name={ownName ?? ''} onEnter={enter} />}
    </Frame>
  )
}

function Frame({ title, facts, children }: { title: string; facts?: string; children: ReactNode }) {
  return (
    <main className="room meeting-page" aria-label={isolated(title)}>
      <header className="room-head agent-head">
        <div className="grow">
          <h1 tabIndex={-1}>{isolated(title)}</h1>
          {facts && <p className="room-facts">{facts}</p>}
        </div>
        <ThemeButton />
        <a className="plain-link" href="/" aria-label="Plaza" title="Plaza">
          <Wordmark />
        </a>
      </header>
      {children}
    </main>
  )
}
