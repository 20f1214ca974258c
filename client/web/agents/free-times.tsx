import { useState } from 'react'
import type { Scheduling } from '#shared/api/agents/run-frames'
import { priceText } from '#shared/api/payments/payment-networks'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { dmOf } from '#shared/kit/room-key'
import { useSession } from '../accounts/session.ts'
import { dayKeyOf, dayOf, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { linkToRoom } from '../rooms/route.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './free-times.module.css'

const mostTimes = 8

/** Times at which the owner of the agent can be booked, by the clock of the reader. */
export function FreeTimes({ scheduling, owner }: { scheduling: Scheduling; owner: string }) {
  const { account } = useSession()
  const [isWhole, setWhole] = useState(false)
  const most = isWhole ? Number.POSITIVE_INFINITY : mostTimes
  const { freeEnabled, freeDuration, paidEnabled, paidDuration, priceCents } = scheduling
  const [now] = useState(Date.now)
  const slots = scheduling.slots.filter(({ start }) => Date.parse(start) > now)
  const days = Map.groupBy(slots, ({ start }) => dayKeyOf(start))
  const kinds = [
    ...(freeEnabled ? [t.times.free({ minutes: freeDuration })] : []),
    ...(paidEnabled ? [t.times.priced({ minutes: paidDuration, price: priceText(priceCents) })] : []),
    t.times.zone,
  ]
  return (
    <section className={styles.freeTimes} aria-label={t.times.title}>
      <p className="label">
        <Icon name="clock" />
        {t.times.title}
      </p>
      <p className={`hint ${styles.capital}`}>{kinds.join(' · ')}</p>
      {days.size > 0 && !isSameAccount(owner, account) && freeEnabled && (
        <p className="hint">
          {t.times.book({ a: (words) => <a href={linkTo('schedule', { slug: owner })}>{words}</a> })}
        </p>
      )}
      {days.size > 0 && !isSameAccount(owner, account) && !freeEnabled && (
        <p className="hint">
          {t.times.write({ a: (words) => <a href={linkToRoom(dmOf(account, owner))}>{words}</a> })}
        </p>
      )}
      {days.size === 0 && (
        <p className="hint">
          {scheduling.slots.length === 0 ? t.times.none : t.times.passed}
          {isSameAccount(owner, account) && ` ${t.times.own}`}
        </p>
      )}
      <dl>
        {[...days].map(([day, times]) => (
          <div key={day}>
            <dt>{dayOf(times[0]?.start ?? day)}</dt>
            <dd className="numerals">
              {times.slice(0, most).map(({ start }) => (
                <time key={start} dateTime={start}>
                  {timeOf(start)}
                </time>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      {!isWhole && [...days.values()].some(({ length }) => length > mostTimes) && (
        <button type="button" className="button small plain" onClick={() => setWhole(true)}>
          {t.times.all({ count: slots.length })}
        </button>
      )}
    </section>
  )
}
