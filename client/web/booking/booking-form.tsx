import { useState } from 'react'
import { v4 as uuid } from 'uuid'
import type { ScheduledCall } from '#shared/api/meetings/booking'
import { AppError } from '#shared/errors'
import { EmailField } from '../accounts/sign-in/email-field.tsx'
import { isOverIn, type Offer, offerIn } from '../agent-page/offer.ts'
import type { Payer } from '../agent-page/payers.ts'
import { PriceCard, paymentWords } from '../agent-page/price-card.tsx'
import { useAccount, useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { dayOf, timeOf } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { bookingTexts as t } from '../texts/booking.ts'
import { keptPayment } from './kept-payment.ts'

/** A time that was chosen, and the kind of call. */
export interface Chosen {
  host: string
  start: string
  minutes: number
  isPaid: boolean
  /** Payments are checked and settled nowhere. */
  simulated: boolean
}

interface FormProps {
  chosen: Chosen
  onBack: () => void
  onBooked: (call: ScheduledCall) => void
  /** True where the refusal is dealt with elsewhere. */
  onRefused: (error: unknown) => boolean
}

/** Who books a time, and what about. A second try has the key of the first, so that nothing is booked twice. */
export function BookingForm({ chosen, onBack, onBooked, onRefused }: FormProps) {
  const { host, start, minutes, isPaid, simulated } = chosen
  const client = useClient()
  const account = useAccount()
  const isGuest = account === null
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [notes, setNotes] = useState('')
  const [key] = useState(() => uuid())
  const [offer, setOffer] = useState<Offer | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  const [isOver, setOver] = useState(false)
  const kept = keptPayment(host, account ?? email.trim().toLowerCase())

  const book = async () => {
    const guest = isGuest ? { guestName: name, guestEmail: email } : {}
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
    const about = { recipientAddress: host, scheduledAt: start, notes: notes.trim() || null, timezone, isPaid }
    const header = isPaid ? kept.read() : null
    const paid = header === null ? {} : { paymentHeader: header }
    try {
      const booked = await client.booking.schedule({ ...about, ...guest, ...paid, idempotency_key: key })
      kept.forget()
      onBooked(booked)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.status === 402) kept.forget()
      setOver(isOverIn(error.details))
      const wanted = error.status === 402 ? offerIn(error.details) : null
      if (wanted) {
        setOffer(wanted)
        setProblem(error.code === 'PAYMENT_REQUIRED' ? null : error)
      } else if (!onRefused(error)) throw error
    }
  }
  const payAnew = () => {
    kept.forget()
    setOver(false)
    return book()
  }
  const pay = async (payer: Payer) => {
    if (offer === null) return
    try {
      kept.keep(await payer.sign(offer))
      setOffer(null)
      await book()
    } catch (error) {
      setOffer(offer)
      setProblem(error)
    }
  }

  if (offer)
    return (
      <PriceCard
        what="call"
        offer={offer}
        simulated={simulated}
        problem={problem}
        onPay={(payer) => void pay(payer)}
        onLeave={() => setOffer(null)}
      />
    )
  return (
    <div className="stack wide">
      <div className="row wrap booking-chosen">
        <p className="grow">
          <strong className="numerals">
            {dayOf(start)}, {timeOf(start)}
          </strong>
          <span className="hint"> · {t.form.length({ minutes })}</span>
        </p>
        <button type="button" className="button small" onClick={onBack}>
          {t.form.otherTime}
        </button>
      </div>
      <MakeForm label={t.form.title} action={t.form.book} words={paymentWords} onMake={book}>
        {isGuest && (
          <>
            <label className="field">
              <span>{t.form.name}</span>
              <input
                dir="auto"
                className="input"
                autoComplete="name"
                required
                maxLength={50}
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            </label>
            <EmailField value={email} onChange={setEmail} />
          </>
        )}
        <label className="field">
          <span>{t.form.notes}</span>
          <textarea
            dir="auto"
            className="input"
            rows={3}
            maxLength={2_000}
            value={notes}
            onChange={({ target }) => setNotes(target.value)}
          />
        </label>
      </MakeForm>
      {isOver && (
        <div className="row end">
          <ActButton className="button small" onPress={payAnew}>
            {t.form.payAgain}
          </ActButton>
        </div>
      )}
    </div>
  )
}
