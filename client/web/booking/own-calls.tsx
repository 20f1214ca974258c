import { type FormEvent, useEffect, useId, useState } from 'react'
import { type ListedCall, scheduledCallChanged } from '#shared/api/meetings/booking'
import type { ShownSettings } from '#shared/api/meetings/scheduling'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { dayOf, isolated, nameOf, timeOf } from '../kit/format.ts'
import { Listed, Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { bookedCallTexts as t } from '../texts/booked-calls.ts'
import styles from './booking.module.css'
import { CancelDialog } from './cancel-dialog.tsx'

const pages = ['current', 'past'] as const

const dayAndTimeOf = (time: string) => `${dayOf(time)}, ${timeOf(time)}`

/** The calls of the account: those that were booked with it, and those that it has booked. */
export function OwnCalls() {
  const client = useClient()
  const [status, setStatus] = useState<'current' | 'past'>('current')
  const loaded = useLoaded(status, async () => {
    const { calls } = await client.booking.calls({ status })
    return calls.filter((call) => isOn(call) === (status === 'current'))
  })
  const { reload } = loaded
  const group = useId()
  useEffect(() => client.on(scheduledCallChanged, reload), [client, reload])
  return (
    <section className="stack">
      <fieldset className="segments">
        <legend className="label">{t.title}</legend>
        {pages.map((name) => (
          <label key={name}>
            <input type="radio" name={group} checked={status === name} onChange={() => setStatus(name)} />
            <span className="segment">{t.pages[name]}</span>
          </label>
        ))}
      </fieldset>
      <Listed loaded={loaded} empty={<p className="hint">{t.none}</p>}>
        {(calls) => (
          <ul className="quiet-list" aria-label={t.title}>
            {calls.map((call) => (
              <CallRow key={call.id} call={call} onChange={reload} />
            ))}
          </ul>
        )}
      </Listed>
    </section>
  )
}

/** A call that goes on now is among those to come, with the way into it. */
const isOn = ({ status }: ListedCall) => status === 'confirmed' || status === 'pending'

function CallRow({ call, onChange }: { call: ListedCall; onChange: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const tell = useTell()
  const time = dayAndTimeOf(call.scheduled_at)
  const who = otherParty(call)
  const copy = async () => {
    await navigator.clipboard.writeText(location.origin + linkTo('call', { token: call.invite_token }))
    tell(t.copied)
  }
  const isPaid = call.payment_status === 'paid'
  return (
    <li className={`row wrap ${styles.bookedCall}`}>
      <span className="grow">
        <span className="numerals">{time}</span>
        <small>
          {who} · {t.minutes({ count: call.duration_minutes })}
          {call.status === 'cancelled' && ` · ${t.isCancelled}`}
          {call.payment_status !== null && ` · ${t.paid[call.payment_status]}`}
          {call.payment_usable_until !== null && ` · ${t.unbooked({ time: dayAndTimeOf(call.payment_usable_until) })}`}
          {call.guest_email !== null && ` · ${call.guest_email}`}
        </small>
        {call.notes && <small dir="auto">{call.notes}</small>}
        {call.cancel_reason && <small>{t.reason({ reason: isolated(call.cancel_reason) })}</small>}
      </span>
      {isOn(call) && (
        <span className="row">
          <a
            className="button small"
            aria-label={t.openOne({ time })}
            href={linkTo('call', { token: call.invite_token })}
          >
            {t.open}
          </a>
          <ActButton className="button small" aria-label={t.copyLinkOne({ time })} onPress={copy}>
            {t.copyLink}
          </ActButton>
          <button
            type="button"
            className="button small risky"
            aria-label={t.cancelOne({ time })}
            onClick={() => setAsking(true)}
          >
            {isPaid ? t.cancelPaid : t.cancel}
          </button>
        </span>
      )}
      {isAsking && (
        <CancelDialog
          call={{ id: call.id, isPaid, time }}
          onCancelled={(payment) => {
            if (payment !== null) tell(t.cancelled[payment])
            onChange()
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  )
}

/** Whom the call is with: of the two, not the one who looks. */
function otherParty({ is_host, scheduler_user, recipient_user, guest_name, title }: ListedCall): string {
  const party = is_host ? scheduler_user : recipient_user
  if (party === null) return isolated(guest_name ?? title)
  if (isSameAccount(scheduler_user?.wallet_address, recipient_user?.wallet_address)) return isolated(title)
  return nameOf(party, party.wallet_address)
}

const words: ProblemWords = t.problems

/** Whether the account can be booked, and at which address. */
export function SharePage({ account, stored }: { account: string; stored: ShownSettings }) {
  const client = useClient()
  const tell = useTell()
  const [isOn, setOn] = useState(stored.scheduling_enabled)
  const [slug, setSlug] = useState(stored.scheduling_slug ?? '')
  const [saved, setSaved] = useState(stored)
  const [problem, setProblem] = useState<unknown>(null)
  const address = location.origin + linkTo('schedule', { slug: saved.scheduling_slug ?? account })
  const save = (event: FormEvent) => {
    event.preventDefault()
    client.scheduling.configure({ scheduling_enabled: isOn, scheduling_slug: slug || null }).then(({ settings }) => {
      setSaved(settings)
      setProblem(null)
      tell(t.share.saved)
    }, setProblem)
  }
  const copy = async () => {
    await navigator.clipboard.writeText(address)
    tell(t.copied)
  }
  return (
    <form className="stack" aria-label={t.share.title} onSubmit={save}>
      <label className="row">
        <input type="checkbox" checked={isOn} onChange={({ target }) => setOn(target.checked)} />
        <span>{t.share.on}</span>
      </label>
      <label className="field">
        <span>{t.share.slug}</span>
        <input
          dir="auto"
          className="input"
          pattern="[a-z0-9\-]{3,30}"
          title={t.share.slugHint}
          maxLength={30}
          value={slug}
          onChange={({ target }) => setSlug(target.value)}
        />
      </label>
      <Problem error={problem} words={words} />
      {saved.scheduling_paid_enabled && saved.scheduling_price_cents > 0 && !saved.payable && (
        <p className="hint">{t.share.unpayable}</p>
      )}
      {saved.scheduling_enabled && (
        <div className="row wrap">
          <a className="grow page-address" href={address} target="_blank" rel="noopener" dir="ltr">
            {address}
          </a>
          <ActButton className="button small" aria-label={t.share.copyAddress} onPress={copy}>
            {t.share.copy}
          </ActButton>
        </div>
      )}
      <div className="row end">
        <button type="submit" className="button main small">
          {t.share.save}
        </button>
      </div>
    </form>
  )
}
