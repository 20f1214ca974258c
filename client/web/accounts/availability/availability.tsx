import { type FormEvent, useState } from 'react'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'
import { OwnCalls, SharePage } from '../../booking/own-calls.tsx'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { bookingHourTexts as t } from '../../texts/booking-hours.ts'
import { locale } from '../../texts/language.ts'
import { useSession } from '../session.ts'
import styles from './availability.module.css'

/** The calls of the account, when and at which address it can be booked, and what its agents tell whoever asks them for an appointment. */
export function Availability() {
  const client = useClient()
  const { account } = useSession()
  const settings = useLoaded('settings', () => client.scheduling.settings({}))
  return (
    <>
      <p className="hint">{t.hint}</p>
      <OwnCalls />
      <Windows />
      <OwnCalendar />
      <Problem error={settings.error} onRetry={settings.reload} />
      {settings.value ? (
        <>
          <Lengths stored={settings.value} />
          <SharePage account={account} stored={settings.value} />
        </>
      ) : (
        !settings.error && <Skeleton rows={3} />
      )}
    </>
  )
}

const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })
const aSunday = Date.UTC(2026, 10, 22)
/** The name of a day; 0 is Sunday. */
const dayName = (day: number): string => weekday.format(aSunday + day * 86_400_000)
const workdays = [1, 2, 3, 4, 5]
const week = [...workdays, 6, 0]
const timeIn = (time: string): string => time.slice(0, 5)

function Windows() {
  const client = useClient()
  const windows = useLoaded('windows', async () => (await client.scheduling.windows({})).windows)
  const [days, setDays] = useState('workdays')
  const [startTime, setStart] = useState('09:00')
  const [endTime, setEnd] = useState('17:00')
  const [problem, setProblem] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()

  const add = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    // The end of a day is written 24:00, which a field for a time cannot show.
    const ends = endTime === '00:00' ? '24:00' : endTime
    if (ends <= startTime) return setProblem(new Error(t.endsTooEarly))
    setBusy(true)
    setProblem(null)
    try {
      for (const dayOfWeek of days === 'workdays' ? workdays : [Number(days)])
        await client.scheduling.setWindow({ dayOfWeek, startTime, endTime: ends, timezone })
    } catch (cause) {
      setProblem(cause)
    }
    setBusy(false)
    windows.reload()
  }
  const remove = async (id: string) => {
    await client.scheduling.removeWindow({ id })
    windows.change((before) => before.filter((one) => one.id !== id))
  }

  return (
    <section className="stack">
      <h3 className="label">{t.title}</h3>
      <Problem error={windows.error} onRetry={windows.reload} />
      {windows.value?.length === 0 && <p className="hint">{t.empty}</p>}
      <ul className="quiet-list" aria-label={t.title}>
        {windows.value?.map(({ id, day_of_week, start_time, end_time, timezone: zone }) => {
          const span = t.span({ day: dayName(day_of_week), from: timeIn(start_time), to: timeIn(end_time) })
          return (
            <li key={id} className="row">
              <span className="grow numerals">
                {span} <small>{zone}</small>
              </span>
              <ActButton className="button small" aria-label={t.removeOf({ span })} onPress={() => remove(id)}>
                {t.remove}
              </ActButton>
            </li>
          )
        })}
      </ul>
      <form className="stack" aria-label={t.add} onSubmit={(event) => void add(event)}>
        <div className={`row wrap ${styles.availabilityNew}`}>
          <label className="field grow">
            <span>{t.day}</span>
            <select className="input" value={days} onChange={({ target }) => setDays(target.value)}>
              <option value="workdays">{t.days({ first: dayName(1), last: dayName(5) })}</option>
              {week.map((day) => (
                <option key={day} value={day}>
                  {dayName(day)}
                </option>
              ))}
            </select>
          </label>
          <div className="row wrap">
            <label className="field">
              <span>{t.from}</span>
              <input
                className="input"
                type="time"
                required
                value={startTime}
                onChange={({ target }) => setStart(target.value)}
              />
            </label>
            <label className="field">
              <span>{t.to}</span>
              <input
                className="input"
                type="time"
                required
                value={endTime}
                onChange={({ target }) => setEnd(target.value)}
              />
            </label>
          </div>
        </div>
        <Problem error={problem} />
        <div className="row end">
          <span className="hint grow">{t.zone({ zone: timezone })}</span>
          <button type="submit" className="button main small" aria-disabled={isBusy || undefined}>
            {t.submit}
          </button>
        </div>
      </form>
    </section>
  )
}

const lengths = [
  ['scheduling_free_duration_minutes', 5, 1_440],
  ['scheduling_buffer_minutes', 0, 1_440],
  ['scheduling_advance_notice_hours', 0, 8_760],
] as const

function Lengths({ stored }: { stored: SchedulingSettings }) {
  const client = useClient()
  const tell = useTell()
  const [fields, setFields] = useState(() => lengths.map(([name]) => `${stored[name]}`))
  const [problem, setProblem] = useState<unknown>(null)
  const save = (event: FormEvent) => {
    event.preventDefault()
    const given = Object.fromEntries(lengths.map(([name], at) => [name, Number(fields[at])]))
    client.scheduling.configure(given).then(() => {
      setProblem(null)
      tell(t.saved)
    }, setProblem)
  }
  return (
    <form className="stack" aria-label={t.calls} onSubmit={save}>
      {lengths.map(([name, least, most], at) => (
        <label key={name} className="field">
          <span>{t.lengths[name]}</span>
          <input
            className="input"
            type="number"
            required
            min={least}
            max={most}
            value={fields[at]}
            onChange={({ target }) => setFields(fields.with(at, target.value))}
          />
        </label>
      ))}
      <Problem error={problem} />
      <div className="row end">
        <button type="submit" className="button main small">
          {t.save}
        </button>
      </div>
    </form>
  )
}

/** The calendar at Google that keeps times from being offered; nothing where none can be connected. */
function OwnCalendar() {
  const client = useClient()
  const tell = useTell()
  const calendar = useLoaded('calendar', () => client.calendar.status({}))
  if (calendar.error) return <Problem error={calendar.error} onRetry={calendar.reload} />
  if (!calendar.value?.available && !calendar.value?.connection) return null
  const { connection, connected, available } = calendar.value
  const connect = async () => location.assign((await client.calendar.connect({})).authUrl)
  const disconnect = async () => {
    await client.calendar.disconnect({})
    calendar.reload()
    tell(t.calendar.disconnected)
  }
  return (
    <section className="stack" aria-label={t.calendar.title}>
      <h3 className="label">{t.calendar.title}</h3>
      {connection === null && <p className="hint">{t.calendar.hint}</p>}
      {connection && !connected && <p role="status">{available ? t.calendar.expired : t.calendar.unavailable}</p>}
      <div className="row wrap">
        {connected && (
          <span className="grow">
            {connection?.calendar_email
              ? t.calendar.connectedAs({ email: connection.calendar_email })
              : t.calendar.connected}
          </span>
        )}
        {!connected && available && (
          <ActButton className="button small" onPress={connect}>
            {connection ? t.calendar.connectAgain : t.calendar.connect}
          </ActButton>
        )}
        {connection && (
          <ActButton className="button small" onPress={disconnect}>
            {t.calendar.disconnect}
          </ActButton>
        )}
      </div>
    </section>
  )
}
