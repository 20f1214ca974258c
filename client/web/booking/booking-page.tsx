import { useState } from 'react'
import type { Client } from '#client/sdk/types'
import type { PublicSchedule, ScheduledCall } from '#shared/api/meetings/booking'
import { priceText } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { useAccount, useClient } from '../connection/client.ts'
import { Avatar } from '../kit/avatar.tsx'
import { isolated } from '../kit/format.ts'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { bookingTexts as t } from '../texts/booking.ts'
import styles from './booking.module.css'
import { BookingForm } from './booking-form.tsx'
import { CallCard } from './call-card.tsx'
import { ChooseTime } from './choose-time.tsx'
import { BookingFrame } from './frame.tsx'

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
