import { useState } from 'react'
import { type booking, joinEarlyMilliseconds } from '#shared/api/meetings/booking'
import type { OutputOf } from '#shared/kit/contract'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { dayOf, isolated, timeOf } from '../kit/format.ts'
import { useTell } from '../kit/toasts.tsx'
import { useNowUntil } from '../kit/use-now.ts'
import { bookingTexts as t } from '../texts/booked-calls.ts'
import styles from './booking.module.css'
import { CancelDialog } from './cancel-dialog.tsx'

type Shown = Pick<
  OutputOf<typeof booking.invited>,
  | 'id'
  | 'scheduled_at'
  | 'duration_minutes'
  | 'status'
  | 'is_paid'
  | 'guest_name'
  | 'guest_email'
  | 'recipient_wallet_address'
  | 'cancel_reason'
  | 'hostName'
>

/** A call, for whoever has its token: they enter it there, and a guest who booked it can cancel it. */
export function CallCard({ call, token, isNew = false }: { call: Shown; token: string; isNew?: boolean }) {
  const client = useClient()
  const tell = useTell()
  const [told, setTold] = useState(call.status)
  const [reason, setReason] = useState(call.cancel_reason)
  const [isAsking, setAsking] = useState(false)
  const opensAt = Date.parse(call.scheduled_at) - joinEarlyMilliseconds
  const endsAt = Date.parse(call.scheduled_at) + call.duration_minutes * 60_000
  const now = useNowUntil(new Date(endsAt).toISOString())
  const status = told !== 'cancelled' && now >= endsAt ? 'completed' : told
  const isOn = status === 'confirmed' || status === 'pending'
  const copy = async () => {
    await navigator.clipboard.writeText(location.origin + linkTo('call', { token }))
    tell(t.card.copied)
  }
  const enter = async () => {
    const { joinCode } = await client.booking.join({ token })
    location.assign(linkTo('meeting', { code: joinCode }))
  }
  return (
    <section className={styles.bookingCard} aria-label={t.card.title}>
      <h2>{isNew && isOn ? t.card.booked : t.states[status]}</h2>
      <p>
        <strong className="numerals">
          {dayOf(call.scheduled_at)}, {timeOf(call.scheduled_at)}
        </strong>
        <span className="hint"> {t.card.zone}</span>
      </p>
      <p>{t.card.with({ minutes: call.duration_minutes, name: isolated(call.hostName) })}</p>
      {isNew && call.guest_email !== null && (
        <p className="hint">{t.card.sent({ email: isolated(call.guest_email) })}</p>
      )}
      {isOn && (
        <div className="row wrap">
          {status === 'confirmed' && now >= opensAt && (
            <ActButton className="button main" onPress={enter}>
              {t.card.join}
            </ActButton>
          )}
          <ActButton className="button" onPress={copy}>
            {t.card.copy}
          </ActButton>
          {(isNew || call.guest_name !== null) && (
            <button type="button" className="button risky" onClick={() => setAsking(true)}>
              {t.card.cancel}
            </button>
          )}
        </div>
      )}
      {status === 'cancelled' && (
        <>
          {reason && (
            <p dir="auto" className={styles.bookingBio}>
              {reason}
            </p>
          )}
          <div className="row">
            <a className="button" href={linkTo('schedule', { slug: call.recipient_wallet_address })}>
              {t.card.bookAnother}
            </a>
          </div>
        </>
      )}
      {isAsking && (
        <CancelDialog
          call={{
            id: call.id,
            isPaid: call.is_paid,
            time: `${dayOf(call.scheduled_at)}, ${timeOf(call.scheduled_at)}`,
          }}
          token={token}
          onCancelled={(_payment, said) => {
            setTold('cancelled')
            setReason(said)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}
