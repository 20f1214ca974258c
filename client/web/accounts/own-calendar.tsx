import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'

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
    tell('Your calendar is disconnected.')
  }
  return (
    <section className="stack" aria-label="Your calendar">
      <h3 className="label">Your calendar</h3>
      {connection === null && (
        <p className="hint">
          While you are busy in your Google Calendar, nobody is offered that time, and calls are written into it. Plaza
          asks when you are busy, and never with what.
        </p>
      )}
      {connection && !connected && (
        <p role="status">
          {available
            ? 'Your calendar needs connecting again. Until then nobody is offered a time.'
            : 'Calendars cannot be asked here any more. Until yours is disconnected nobody is offered a time.'}
        </p>
      )}
      <div className="row wrap">
        {connected && (
          <span className="grow">Connected{connection?.calendar_email ? ` as ${connection.calendar_email}` : ''}</span>
        )}
        {!connected && available && (
          <ActButton className="button small" onPress={connect}>
            {connection ? 'Connect again' : 'Connect Google Calendar'}
          </ActButton>
        )}
        {connection && (
          <ActButton className="button small" onPress={disconnect}>
            Disconnect
          </ActButton>
        )}
      </div>
    </section>
  )
}
