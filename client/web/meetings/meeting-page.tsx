import '../kit/frame.css'
import { type FormEvent, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { table } from '#client/sdk/table'
import { type Call, ringSeconds } from '#shared/api/meetings/calls'
import { isJoinCode } from '#shared/api/meetings/meetings'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { chosenName } from '#shared/kit/person-name'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { loadUser } from '../accounts/session.ts'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import { callOfPage, originOfCall, ringUp } from '../calls/ring.ts'
import { useAccount, useClient } from '../connection/client.ts'
import { DeviceButtons, DeviceNotes } from '../devices/device-buttons.tsx'
import { OwnMedia } from '../devices/own-media.ts'
import { ActButton } from '../kit/act-button.tsx'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import { type ProblemWords, problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { meetingTexts as t } from '../texts/calls.ts'
import { Inside, Picture } from './inside.tsx'
import { Meeting } from './meeting.ts'
import styles from './meetings.module.css'

const newest = 20

/** The call that led to the meeting of this page: how it stands, and what ends it. */
function useCall() {
  const client = useClient()
  const account = useAccount()
  const [id] = useState(callOfPage)
  const [call, setCall] = useState<Call | null>(null)
  const [isLoading, setLoading] = useState(id !== null)
  useEffect(() => {
    if (id === null || account === null) return setLoading(false)
    const look = async () => {
      const { calls } = await client.calls.list({ limit: newest })
      setCall(calls.find((one) => one.id === id) ?? null)
    }
    const lookQuietly = () =>
      void look()
        .catch(() => {})
        .finally(() => setLoading(false))
    lookQuietly()
    // No event ends a call that has rung too long.
    const timer = setTimeout(lookQuietly, (ringSeconds + 1) * 1_000)
    const unhear = client.on(table.events.callChanged, ({ call: changed }) => {
      if (changed.id === id) setCall(changed)
    })
    return () => {
      clearTimeout(timer)
      unhear()
    }
  }, [client, id, account])

  /** Whoever leaves first ends it; of the other the server hears nothing new. */
  const end = (wasAnswered: boolean) => {
    if (id === null || account === null) return Promise.resolve()
    return client.calls.change({ callId: id, status: wasAnswered ? 'completed' : 'missed' }).catch(() => {})
  }
  return { isLoading, shown: call && shownTo(account, call), end }
}

export type ShownCall = ReturnType<typeof shownTo>

/** A call as one of the two sees it. */
function shownTo(account: string | null, { status, caller, callee, call_type }: Call) {
  const isMine = isSameAccount(caller.address, account)
  const other = isMine ? callee : caller
  const name = isolated(nameOf(other, other.address))
  const words: Record<typeof status, string> = {
    ringing: isMine ? t.calls.ringingOut({ name }) : t.calls.ringingIn({ name }),
    active: isMine ? t.calls.activeOut({ name }) : t.calls.activeIn({ name }),
    declined: isMine ? t.calls.declinedOut({ name }) : t.calls.declinedIn,
    missed: isMine ? t.calls.missedOut({ name }) : t.calls.missedIn({ name }),
    completed: t.calls.completed,
    failed: t.calls.failed,
  }
  return {
    name,
    other: other.address,
    type: call_type,
    /** Whether the caller may want to ring again. */
    wasInVain: isMine && ['missed', 'declined'].includes(status),
    wasAnswered: ['active', 'completed'].includes(status),
    isRinging: status === 'ringing' && isMine,
    isOn: ['ringing', 'active'].includes(status),
    words: words[status],
  }
}

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
  const enteredAs = useRef<string | null>(null)
  const { shown } = call
  const title = found.value && (shown?.name ?? isolated(found.value.title))
  useEffect(() => {
    if (title) document.title = `${title} · Plaza`
  }, [title])

  const name = user.value ? chosenName(user.value) : sessionStorage.getItem(guestNameKey)
  const enter = (displayName: string, own: OwnMedia) => {
    if (account === null) sessionStorage.setItem(guestNameKey, displayName)
    enteredAs.current = displayName
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
  /** Without the lobby, by what is on as a rule; a voice call asks for no camera. */
  const enterAtOnce = (displayName: string) => {
    const own = new OwnMedia()
    void (shown?.type === 'audio' ? own.open(false) : own.open())
    enter(displayName, own)
  }
  const isCalled = Boolean(found.value && shown?.isOn && name) && why === null && meeting === null
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever calls or answers is in at once, and not again by themself
  useEffect(() => {
    if (isCalled && name && enteredAs.current === null) enterAtOnce(name)
  }, [isCalled])
  // Whoever rang in vain waits no longer, and no meeting is left of the call.
  const isInVain = meeting !== null && Boolean(shown?.wasInVain) && why === null
  useEffect(() => {
    if (!isInVain || !meeting || meeting.state.people.length > 0) return
    void client.meetings.end({ code }).catch(() => {})
    meeting.leave()
  }, [isInVain, meeting, client, code])
  // A page that is left must not stay in the meeting.
  useEffect(() => {
    if (!meeting) return
    addEventListener('pagehide', meeting.leave)
    return () => removeEventListener('pagehide', meeting.leave)
  }, [meeting])

  const isEntering = isCalled && enteredAs.current === null
  if (!found.value || user.isLoading || call.isLoading || isEntering)
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
  // Inside, the pictures show whether the host is there.
  const hosted = hostWords(meeting ? { ...host, isPresent: null } : host)
  const facts = shown ? shown.words : isHost ? t.host.isYou : hosted
  const heading = shown?.name ?? room.title
  const back = originOfCall() ?? (account === null ? null : linkTo('calls'))
  const cancel = async () => {
    await call.end(false)
    if (isHost) await client.meetings.end({ code }).catch(() => {})
    location.assign(back ?? linkTo('calls'))
  }
  if (meeting)
    return (
      <Frame title={heading} facts={facts}>
        <Inside
          meeting={meeting}
          alone={shown?.isOn ? shown.words : t.alone}
          host={isolated(host.displayName)}
          leaving={shown?.isRinging ? t.cancel : t.leave}
          onLeave={shown?.isRinging ? cancel : async () => meeting.leave()}
          onEnd={isHost && !shown ? () => client.meetings.end({ code }) : null}
          onRemove={isHost ? (peer) => client.meetings.remove({ code, peer }) : null}
        />
      </Frame>
    )
  const isOver = why === 'removed' || (why === 'ended' && !room.isPermanent)
  const again = enteredAs.current
  const hasLeft = why === 'left' || why === 'elsewhere'
  if (hasLeft || (shown && !shown.isOn))
    return (
      <Frame title={heading}>
        <Blank
          icon={shown ? 'phone' : 'people'}
          title={shown && !shown.isOn ? shown.words : t.over[hasLeft ? why : 'left']}
        >
          <div className="row wrap">
            {hasLeft && again !== null && (!shown || shown.wasAnswered) && (
              <button type="button" className="button main" onClick={() => enterAtOnce(again)}>
                {t.rejoin}
              </button>
            )}
            {shown?.wasInVain && (
              <ActButton className="button main" onPress={() => ringUp(client, shown.other, shown.type)}>
                <Icon name="phone" />
                {t.callAgain}
              </ActButton>
            )}
            {back !== null && (
              <a className="button" href={back}>
                {back === linkTo('calls') ? t.backToCalls : t.back}
              </a>
            )}
          </div>
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
      {!isOver && <Lobby name={name ?? ''} isVoiceOnly={shown?.type === 'audio'} onEnter={enter} />}
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

/** Before a meeting: under which name, and what the others will see and hear. */
function Lobby(props: { name: string; isVoiceOnly: boolean; onEnter: (name: string, own: OwnMedia) => void }) {
  const { isVoiceOnly } = props
  const [own] = useState(() => new OwnMedia())
  const tracks = useSyncExternalStore(own.subscribe, () => own.state)
  const [name, setName] = useState(props.name)
  const isTaken = useRef(false)
  useEffect(() => {
    void (isVoiceOnly ? own.open(false) : own.open())
    return () => {
      if (!isTaken.current) own.close()
    }
  }, [own, isVoiceOnly])

  const enter = (event: FormEvent) => {
    event.preventDefault()
    const wanted = name.trim()
    if (wanted === '') return
    isTaken.current = true
    props.onEnter(wanted, own)
  }
  return (
    <form className={styles.meetingLobby} onSubmit={enter}>
      <Picture track={tracks.video} name={name.trim() || t.inside.you} id="me" isMine label={t.lobby.picture} />
      <div className="stack">
        <DeviceButtons own={own} tracks={tracks} />
        <DeviceNotes tracks={tracks} />
        <label className="field">
          <span>{t.lobby.name}</span>
          <input
            dir="auto"
            className="input"
            maxLength={50}
            required
            autoComplete="name"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <button type="submit" className="button main">
          {t.lobby.enter}
        </button>
        <p className="hint">{t.lobby.hint}</p>
      </div>
    </form>
  )
}
