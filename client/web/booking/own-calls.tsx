import { useEffect, useId, useState } from 'react'
import { type ListedCall, scheduledCallChanged } from '#shared/api/booking'
import { isSameAccount } from '#shared/kit/accounts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { dayOf, isolated, nameOf, timeOf } from '../kit/format.ts'
import { Listed } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import styles from './booking.module.css'
import { CancelDialog } from './cancel-dialog.tsx'
import { linkToCall } from './link-to-call.ts'

const pages = [
  ['current', 'To come'],
  ['past', 'Past and cancelled'],
] as const

const paidWords = { pending: 'being paid for', paid: 'paid', refunded: 'refunded' }

const cancelledWords = {
  kept: 'Cancelled. What was paid is not given back from here.',
  withdrawn: 'Cancelled. Nothing was charged.',
  unknown: 'Cancelled. Whether it was charged is not known yet.',
}

/** Of a call of whose payment nobody could tell in time whether it was charged. */
const unbookedText = (until: string) =>
  `not booked, and may be charged until ${dayOf(until)}, ${timeOf(until)}. What was charged is good for another time: book it in this browser`

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
        <legend className="label">Calls</legend>
        {pages.map(([name, title]) => (
          <label key={name}>
            <input type="radio" name={group} checked={status === name} onChange={() => setStatus(name)} />
            <span className="segment">{title}</span>
          </label>
        ))}
      </fieldset>
      <Listed loaded={loaded} empty={<p className="hint">There are none.</p>}>
        {(calls) => (
          <ul className="quiet-list" aria-label="Calls">
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
  const time = `${dayOf(call.scheduled_at)}, ${timeOf(call.scheduled_at)}`
  const who = otherParty(call)
  const copy = async () => {
    await navigator.clipboard.writeText(linkToCall(call.invite_token))
    tell('Copied')
  }
  const isPaid = call.payment_status === 'paid'
  return (
    <li className={`row wrap ${styles.bookedCall}`}>
      <span className="grow">
        <span className="numerals">{time}</span>
        <small>
          {who} · {call.duration_minutes} min{call.status === 'cancelled' && ' · cancelled'}
          {call.payment_status !== null && ` · ${paidWords[call.payment_status]}`}
          {call.payment_usable_until !== null && ` · ${unbookedText(call.payment_usable_until)}`}
          {call.guest_email !== null && ` · ${call.guest_email}`}
        </small>
        {call.notes && <small dir="auto">{call.notes}</small>}
        {call.cancel_reason && <small>Reason: {isolated(call.cancel_reason)}</small>}
      </span>
      {isOn(call) && (
        <span className="row">
          <a className="button small" aria-label={`Open: ${time}`} href={linkToCall(call.invite_token)}>
            Open
          </a>
          <ActButton className="button small" aria-label={`Copy link: ${time}`} onPress={copy}>
            Copy link
          </ActButton>
          <button
            type="button"
            className="button small risky"
            aria-label={`Cancel: ${time}`}
            onClick={() => setAsking(true)}
          >
            {isPaid ? 'Cancel without refund' : 'Cancel'}
          </button>
        </span>
      )}
      {isAsking && (
        <CancelDialog
          call={{ id: call.id, isPaid, time }}
          onCancelled={(payment) => {
            if (payment !== null) tell(cancelledWords[payment])
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
  return nameOf(party.username ?? party.display_name, party.wallet_address)
}
