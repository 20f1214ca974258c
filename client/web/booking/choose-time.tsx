import { useState } from 'react'
import type { scheduling } from '#shared/api/meetings/scheduling'
import type { OutputOf } from '#shared/kit/contract'
import { dayKeyOf, timeOf } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import type { Loaded } from '../kit/use-loaded.ts'
import { bookingTexts as t } from '../texts/booking.ts'
import { locale } from '../texts/language.ts'
import styles from './booking.module.css'

const shortDay = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short' })

type Times = OutputOf<typeof scheduling.availability>

const whyNone = ({ message, calendarError }: Times): string =>
  calendarError ? t.times.calendarAway : message === undefined ? t.times.allTaken : t.times.noHours

/** The days on which there are times, and the times of one of them, by the clock of the reader. */
export function ChooseTime(props: { times: Loaded<Times>; isTaken: boolean; onChoose: (start: string) => void }) {
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
