import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { bookingHourTexts as t } from '../../texts/booking-hours.ts'

/** The calendar at Google that keeps times from being offered; nothing where none can be connected. */
export function OwnCalendar() {
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
