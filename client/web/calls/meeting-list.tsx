import { useState } from 'react'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { isolated } from '../kit/format.ts'
import { momentOf } from '../kit/moment.ts'
import { Blank, Listed, Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useSubmit } from '../kit/use-submit.ts'
import { callTexts as t } from '../texts/calls.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import styles from './meeting-list.module.css'

/** The meetings that the account has opened and that go on, and the room that it has for good. */
export function MeetingList() {
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
          <ul className={styles.meetingCards}>
            {all.map(({ id, title, joinCode, joinUrl, expiresAt, participantCount }) => (
              <li key={id} className={styles.meetingCard}>
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
        <div className={styles.meetingCard}>
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
