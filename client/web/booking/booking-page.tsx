import { useState } from 'react'
import { v4 as uuid } from 'uuid'
import type { Client } from '#client/sdk/types'
import type { PublicSchedule, ScheduledCall } from '#shared/api/meetings/booking'
import type { scheduling } from '#shared/api/meetings/scheduling'
import { priceText } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { OutputOf } from '#shared/kit/contract'
import { EmailField } from '../accounts/sign-in/email-field.tsx'
import { isOverIn, type Offer, offerIn, type Payer } from '../agent-page/offer.ts'
import { PriceCard, paymentWords } from '../agent-page/price-card.tsx'
import { useAccount, useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { dayKeyOf, dayOf, isolated, timeOf } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { Blank, LoadProblem, Problem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { type Loaded as LoadedValue, useLoaded } from '../kit/use-loaded.ts'
import { bookingTexts as t } from '../texts/booked-calls.ts'
import { locale } from '../texts/language.ts'
import styles from './booking.module.css'
import { CallCard } from './call-card.tsx'
import { BookingFrame } from './frame.tsx'

const shortDay = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short' })

type Times = OutputOf<typeof scheduling.availability>

const whyNone = ({ message, calendarError }: Times): string =>
  calendarError ? t.times.calendarAway : message === undefined ? t.times.allTaken : t.times.noHours

/** The days on which there are times, and the times of one of them, by the clock of the reader. */
function ChooseTime(props: { times: LoadedValue<Times>; isTaken: boolean; onChoose: (start: string) => void }) {
  const { times, isTaken, onChoose } = props
  const [wanted, setWanted] = useState<string | null>(null)
  if (times.value === null)
    return times.error ? <Problem error={times.error} onRetry={times.reload} /> : <Skeleton label={t.loading} />
  const days = Map.groupBy(times.value.slots, ({ start }) => dayKeyOf(start))
  const day = wanted !== null && days.has(wanted) ? wanted : [...days.keys()][0]
  const taken = isTaken && (
    <p className="problem" role="alert">
      {t.times.taken}
    </p>
  )
  if (day === undefined)
    return (
      <>
        {taken}
        <Blank icon="clock" title={t.times.none}>
          <p>{whyNone(times.value)}</p>
          <button type="button" className="button small" onClick={times.reload}>
            {t.times.refresh}
          </button>
        </Blank>
      </>
    )
  return (
    <div className="stack wide">
      {taken}
      <fieldset className={styles.bookingDays}>
        <legend className="label">{t.times.day}</legend>
        {[...days].map(([key, [first]]) => (
          <label key={key}>
            <input type="radio" name="day" checked={key === day} onChange={() => setWanted(key)} />
            <span>{shortDay.format(new Date(first?.start ?? key))}</span>
          </label>
        ))}
      </fieldset>
      <section className="stack" aria-labelledby="times">
        <p id="times" className="label">
          {t.times.time}
        </p>
        <div className={`${styles.bookingTimes} numerals`}>
          {days.get(day)?.map(({ start }) => (
            <button key={start} type="button" className="button" onClick={() => onChoose(start)}>
              <time dateTime={start}>{timeOf(start)}</time>
            </button>
          ))}
        </div>
      </section>
    </div>
  )
}

const words: ProblemWords = {
  USER_NOT_FOUND: t.problems.notFound,
  SCHEDULING_DISABLED: t.problems.disabled,
  VALIDATION_ERROR: t.problems.notFound,
}

/** By the slug that somebody has chosen, else by their username or address. */
async function scheduleAt(client: Client, slug: string): Promise<PublicSchedule> {
  if (!/^[a-z0-9-]{3,30}$/.test(slug)) return client.booking.page({ slug })
  return client.booking.pageBySlug({ slug }).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'USER_NOT_FOUND') return client.booking.page({ slug })
    throw error
  })
}

/** Where anybody books a call with somebody: `/schedule/:slug`. */
export function BookingPage({ slug }: { slug: string }) {
  const client = useClient()
  const { value, error, isLoading, reload } = useLoaded(slug, () => scheduleAt(client, slug))
  if (value) return <Loaded schedule={value} />
  return (
    <BookingFrame title={t.title}>
      {error && !isLoading ? (
        <Blank icon="warn" title={t.notOpened}>
          <LoadProblem error={error} words={words} />
          <button type="button" className="button small" onClick={reload}>
            {t.retry}
          </button>
        </Blank>
      ) : (
        <Skeleton rows={6} label={t.loading} />
      )}
    </BookingFrame>
  )
}

interface Kind {
  isPaid: boolean
  minutes: number
  title: string
}

/** The kinds of calls that can be booked here. */
function kindsOf({ freeEnabled, paidEnabled, payable, ...rest }: PublicSchedule['scheduling']): Kind[] {
  const { freeDuration, paidDuration, priceCents } = rest
  const titleOf = (minutes: number, cents: number) =>
    cents === 0 ? t.kind.free({ minutes }) : t.kind.priced({ minutes, price: priceText(cents) })
  const isPayable = priceCents === 0 || payable
  return [
    ...(freeEnabled ? [{ isPaid: false, minutes: freeDuration, title: titleOf(freeDuration, 0) }] : []),
    ...(paidEnabled && isPayable
      ? [{ isPaid: true, minutes: paidDuration, title: titleOf(paidDuration, priceCents) }]
      : []),
  ]
}

function ChooseKind(props: { kinds: readonly Kind[]; chosen: Kind; onChoose: (isPaid: boolean) => void }) {
  return (
    <fieldset className={styles.bookingDays}>
      <legend className="label">{t.kind.title}</legend>
      {props.kinds.map(({ isPaid, title }) => (
        <label key={title}>
          <input
            type="radio"
            name="kind"
            checked={isPaid === props.chosen.isPaid}
            onChange={() => props.onChoose(isPaid)}
          />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
  )
}

function Loaded({ schedule: { profile, scheduling } }: { schedule: PublicSchedule }) {
  const client = useClient()
  const account = useAccount()
  const { walletAddress: host, displayName, avatarUrl, bio, title } = profile
  const [chosen, choose] = useState<string | null>(null)
  const [booked, setBooked] = useState<ScheduledCall | null>(null)
  const [isTaken, setTaken] = useState(false)
  const [isPaid, setPaid] = useState(false)
  const kinds = kindsOf(scheduling)
  const kind = kinds.find((one) => one.isPaid === isPaid) ?? kinds[0]
  const times = useLoaded(host, () => client.scheduling.availability({ address: host }))

  const refused = (error: unknown) => {
    if (!(error instanceof AppError && error.code === 'SLOT_TAKEN')) return false
    setTaken(true)
    choose(null)
    times.reload()
    return true
  }
  const pick = (start: string | null) => {
    setTaken(false)
    choose(start)
  }

  return (
    <BookingFrame
      title={title ?? t.titleOf({ name: displayName })}
      face={<Avatar id={host} name={displayName} picture={avatarUrl} size="large" />}
      facts={[displayName, kind?.title].filter(Boolean).join(' · ')}
    >
      {bio && !booked && (
        <p className={styles.bookingBio} dir="auto">
          {bio}
        </p>
      )}
      {booked ? (
        <CallCard call={{ ...booked, hostName: displayName }} token={booked.invite_token} isNew />
      ) : isSameAccount(account, host) ? (
        <Blank icon="clock" title={t.own}>
          <p>{t.ownHint}</p>
        </Blank>
      ) : kind === undefined ? (
        <Blank icon="clock" title={t.none}>
          <p>{t.noneHint({ name: isolated(displayName) })}</p>
        </Blank>
      ) : chosen === null ? (
        <>
          {kinds.length > 1 && <ChooseKind kinds={kinds} chosen={kind} onChoose={setPaid} />}
          <ChooseTime times={times} isTaken={isTaken} onChoose={pick} />
        </>
      ) : (
        <BookingForm
          chosen={{ host, start: chosen, ...kind, simulated: scheduling.simulated }}
          onBack={() => pick(null)}
          onBooked={setBooked}
          onRefused={refused}
        />
      )}
    </BookingFrame>
  )
}

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
function BookingForm({ chosen, onBack, onBooked, onRefused }: FormProps) {
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

/**
 * The payment of one person for a call with a host, in this browser until a call is booked with it or it is refused: where the time is lost, or the
 * answer, the same payment is sent again, so that nobody pays twice.
 */
function keptPayment(host: string, booker: string) {
  const key = `plaza.call-payment.${host} ${booker}`
  return {
    read: () => localStorage.getItem(key),
    keep: (header: string) => localStorage.setItem(key, header),
    forget: () => localStorage.removeItem(key),
  }
}
