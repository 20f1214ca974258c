import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import { type Call, ringSeconds } from '#shared/api/meetings/calls'
import { isSameAccount } from '#shared/kit/accounts'
import { useSession } from '../accounts/session.ts'
import { AgentHead } from '../agents/agent-head.tsx'
import { OwnCalls } from '../booking/own-calls.tsx'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { dayOf, fullTimeOf, isolated, lengthOf, nameOf, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { momentOf } from '../kit/moment.ts'
import { Blank, Listed, Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useSubmit } from '../kit/use-submit.ts'
import { useStoredPicture } from '../media/stored.ts'
import { goTo } from '../rooms/route.ts'
import { callTexts as t } from '../texts/calls.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { controlTexts } from '../texts/controls.ts'
import styles from './calls.module.css'
import meetingListStyles from './meeting-list.module.css'
import { ringUp } from './ring.ts'

interface Calls {
  calls: readonly Call[]
  /** Where older ones go on; null where there are none. */
  next: string | null
}

/** The calls of the account, newest first, as they change. */
function useCalls() {
  const client = useClient()
  const { value, change, reload, ...state } = useLoaded<Calls>('calls', () => client.calls.list())
  useEffect(
    () =>
      client.on(table.events.callChanged, ({ call }) =>
        change(({ calls, next }) => ({ calls: withCall(calls, call), next })),
      ),
    [client, change],
  )
  // No event ends a call that has rung too long.
  const rings = value?.calls.find(({ status }) => status === 'ringing')?.started_at
  useEffect(() => {
    if (rings === undefined) return
    const timer = setTimeout(reload, Date.parse(rings) + (ringSeconds + 1) * 1_000 - Date.now())
    return () => clearTimeout(timer)
  }, [rings, reload])

  const more = async () => {
    const before = value?.next
    if (!before) return
    const older = await client.calls.list({ before })
    change(({ calls }) => ({ calls: [...calls, ...older.calls], next: older.next }))
  }
  return { ...state, reload, value: value?.calls ?? null, more: value?.next ? more : null }
}

const withCall = (calls: readonly Call[], call: Call): readonly Call[] =>
  calls.some(({ id }) => id === call.id)
    ? calls.map((known) => (known.id === call.id ? call : known))
    : [call, ...calls]

export function CallsView() {
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: controlTexts.backToRooms, go: () => goTo(null) }} />
      <div className="page">
        <MeetingList />
        <BookedCalls />
        <CallList />
      </div>
    </main>
  )
}

function BookedCalls() {
  return (
    <section aria-labelledby="booked-calls">
      <h2 id="booked-calls">{t.scheduled}</h2>
      <OwnCalls />
    </section>
  )
}

/** The meetings that the account has opened and that go on, and the room that it has for good. */
function MeetingList() {
  const client = useClient()
  const { account } = useSession()
  const open = useLoaded('meetings', async () => (await client.meetings.list()).rooms)
  const permanent = useLoaded(account, async () => {
    const { room } = await client.meetings.permanent({ wallet_address: account })
    return room.permanentUrl
  })
  const end = async (code: string) => {
    await client.meetings.end({ code })
    open.change((all) => all.filter(({ joinCode }) => joinCode !== code))
  }
  return (
    <section aria-labelledby="own-meetings">
      <h2 id="own-meetings">{t.meetings}</h2>
      <OpenMeeting onOpened={open.reload} />
      <Listed
        loaded={open}
        empty={
          <Blank icon="people" title={t.noMeetings}>
            <p>{t.noMeetingsHint}</p>
          </Blank>
        }
      >
        {(all) => (
          <ul className={meetingListStyles.meetingCards}>
            {all.map(({ id, title, joinCode, joinUrl, expiresAt, participantCount }) => (
              <li key={id} className={meetingListStyles.meetingCard}>
                <div className="grow">
                  <a href={joinUrl}>{isolated(title)}</a>
                  <small className="numerals">{meetingText(joinCode, participantCount, expiresAt)}</small>
                </div>
                <CopyLink address={joinUrl} label={t.copyOf({ name: title })} />
                <ConfirmButton
                  title={t.endMeeting}
                  question={confirmationTexts.meeting}
                  onConfirm={() => end(joinCode)}
                />
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {permanent.value && (
        <div className={meetingListStyles.meetingCard}>
          <div className="grow">
            <a href={permanent.value}>{t.permanentRoom}</a>
            <small className="page-address" dir="ltr">
              {permanent.value}
            </small>
          </div>
          <CopyLink address={permanent.value} label={t.copyPermanent} />
        </div>
      )}
    </section>
  )
}

function meetingText(code: string, count: number, until: string | null): string {
  return until === null ? t.meeting({ code, count }) : t.meetingUntil({ code, count, time: momentOf(until) })
}

function OpenMeeting({ onOpened }: { onOpened: () => void }) {
  const client = useClient()
  const [title, setTitle] = useState('')
  const { isBusy, problem, submit } = useSubmit(async () => {
    const wanted = title.trim()
    await client.meetings.create(wanted ? { title: wanted } : {})
    setTitle('')
    onOpened()
  })
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row wrap">
        <input
          dir="auto"
          className="input grow"
          aria-label={t.meetingTitle}
          placeholder={t.meetingExample}
          maxLength={100}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
        <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
          {t.startMeeting}
        </button>
      </div>
      <Problem error={problem} />
    </form>
  )
}

function CopyLink({ address, label }: { address: string; label: string }) {
  const tell = useTell()
  const copy = async () => {
    await navigator.clipboard.writeText(address)
    tell(t.copied)
  }
  return (
    <ActButton className="button small" aria-label={label} onPress={copy}>
      {t.copy}
    </ActButton>
  )
}

/** The calls of the account, newest first. */
function CallList() {
  const { more, ...calls } = useCalls()
  return (
    <section aria-labelledby="call-history">
      <h2 id="call-history">{t.history}</h2>
      <Listed
        loaded={calls}
        empty={
          <Blank icon="phone" title={t.empty}>
            <p>{t.emptyHint}</p>
          </Blank>
        }
      >
        {(all) => (
          <ul className="call-rows">
            {all.map((call) => (
              <CallRow key={call.id} call={call} />
            ))}
          </ul>
        )}
      </Listed>
      {more && (
        <ActButton className="button small" onPress={more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </section>
  )
}

function CallRow({ call }: { call: Call }) {
  const client = useClient()
  const { account, status } = useSession()
  const isMine = isSameAccount(call.caller_address, account)
  const other = isMine ? call.callee : call.caller
  const name = nameOf(other, other.address)
  const picture = useStoredPicture(other.avatar_url)
  const isMissed = call.status === 'missed' && !isMine
  return (
    <li className={styles.callRow}>
      <Avatar id={other.address} name={name} picture={picture} />
      <div className="grow">
        <strong>{name}</strong>
        <small className={isMissed ? styles.missed : ''}>{courseOf(call, isMine)}</small>
      </div>
      <small className="numerals">
        <time dateTime={call.started_at} title={fullTimeOf(call.started_at)}>
          {dayOf(call.started_at)}, {timeOf(call.started_at)}
        </time>
        {call.duration_seconds > 0 && <span>{lengthOf(call.duration_seconds)}</span>}
      </small>
      {status?.meetings === null && (
        <ActButton
          className="icon-button small"
          aria-label={t.call({ name })}
          title={t.callAgain}
          onPress={() => ringUp(client, other.address, call.call_type)}
        >
          <Icon name="phone" />
        </ActButton>
      )}
    </li>
  )
}

/** How a call went, as the one who looks sees it. */
function courseOf({ status, call_type: kind }: Call, isMine: boolean): string {
  const texts = {
    ringing: isMine ? t.ringingOut : t.ringingIn,
    active: t.active,
    completed: isMine ? t.outgoing : t.incoming,
    missed: isMine ? t.notAnswered : t.missed,
    declined: isMine ? t.declined : t.youDeclined,
    failed: t.failed,
  }
  return texts[status]({ kind })
}
