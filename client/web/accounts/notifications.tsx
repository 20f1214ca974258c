import { useState } from 'react'
import type { Preferences } from '#shared/api/push'
import { useClient } from '../connection/client.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { problemText } from '../kit/problem.ts'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { NotifySwitch } from './notify-switch.tsx'
import { canPush, isPushedTo, turnOff, turnOn } from './push.ts'
import { useSession } from './session.ts'

const kinds = [
  ['notifyDms', 'Direct messages'],
  ['notifyGroups', 'Messages in groups'],
  ['notifyChannels', 'Mentions and replies in other rooms'],
  ['notifyCalls', 'Calls'],
] as const

/** Whether this browser tells of what happens, and of what the account is notified. */
export function Notifications() {
  const client = useClient()
  const tell = useTell()
  const preferences = useLoaded('notifications', () => client.push.preferences({}))
  const change = (next: Partial<Preferences>) => {
    preferences.change((before) => ({ ...before, ...next }))
    client.push.changePreferences(next).catch((error: unknown) => {
      tell(problemText(error))
      preferences.reload()
    })
  }
  return (
    <>
      <section className="stack">
        <h3 className="label">In this browser</h3>
        <NotifySwitch />
        <PushSwitch />
        <DoNotDisturb />
      </section>
      <Problem error={preferences.error} onRetry={preferences.reload} />
      {preferences.value ? (
        <>
          <section className="stack">
            <h3 className="label">While the page is closed, tell me of</h3>
            {kinds.map(([name, title]) => (
              <label key={name} className="check">
                <input
                  type="checkbox"
                  checked={preferences.value?.[name] ?? false}
                  onChange={({ target }) => change({ [name]: target.checked } as Partial<Preferences>)}
                />
                {title}
              </label>
            ))}
          </section>
          <QuietHours stored={preferences.value} onChange={change} />
        </>
      ) : (
        !preferences.error && <Skeleton rows={4} />
      )}
    </>
  )
}

function PushSwitch() {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const isOn = useLoaded('pushed', () => isPushedTo(account))
  const [isBusy, setBusy] = useState(false)
  if (!canPush()) return <p className="hint">This browser cannot be told anything while the page is closed.</p>
  const change = async (isWanted: boolean) => {
    if (isBusy) return
    setBusy(true)
    try {
      if (!isWanted) await turnOff(client)
      else if (!(await turnOn(client, account)))
        tell('Your browser does not let this page notify you. Allow it there, then try again.')
    } catch {
      tell('This browser could not be reached by its push service. Try again in a while.')
    }
    setBusy(false)
    isOn.reload()
  }
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={isOn.value ?? false}
        aria-disabled={isBusy || undefined}
        onChange={({ target }) => void change(target.checked)}
      />
      Tell me while the page is closed, too
    </label>
  )
}

/** Holds for every browser of the account. */
function DoNotDisturb() {
  const client = useClient()
  const attempt = useAttempt()
  const own = useLoaded('disturbed', async () => (await client.accounts.ownProfile()).user)
  const change = (do_not_disturb: boolean) =>
    attempt(async () => {
      const { user } = await client.accounts.updateProfile({ do_not_disturb })
      own.change(() => user)
    })
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={own.value?.do_not_disturb ?? false}
        onChange={({ target }) => change(target.checked)}
      />
      Do not disturb me: no browser of mine is told of anything
    </label>
  )
}

const hours = Array.from({ length: 24 }, (_, hour) => hour)
const hourName = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
/** Whole hours between the clock of this browser and UTC. */
const ahead = () => Math.round(-new Date().getTimezoneOffset() / 60)
const turned = (hour: number, by: number) => (hour + by + 48) % 24

/** Hours are stored by UTC, and shown by the clock of this browser. */
function QuietHours({ stored, onChange }: { stored: Preferences; onChange: (next: Partial<Preferences>) => void }) {
  const { quietStart, quietEnd } = stored
  const isOn = quietStart !== null && quietEnd !== null
  const night = { quietStart: turned(22, -ahead()), quietEnd: turned(7, -ahead()) }
  return (
    <section className="stack">
      <h3 className="label">Quiet hours</h3>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) => onChange(target.checked ? night : { quietStart: null, quietEnd: null })}
        />
        Tell me of nothing but calls at night
      </label>
      {isOn && (
        <div className="row">
          <Hour title="From" utc={quietStart} onChoose={(hour) => onChange({ quietStart: hour })} />
          <Hour title="To" utc={quietEnd} onChoose={(hour) => onChange({ quietEnd: hour })} />
        </div>
      )}
    </section>
  )
}

function Hour({ title, utc, onChoose }: { title: string; utc: number; onChoose: (utc: number) => void }) {
  return (
    <label className="field grow">
      <span>{title}</span>
      <select
        className="input"
        value={turned(utc, ahead())}
        onChange={({ target }) => onChoose(turned(Number(target.value), -ahead()))}
      >
        {hours.map((hour) => (
          <option key={hour} value={hour}>
            {hourName.format(new Date(2026, 0, 1, hour))}
          </option>
        ))}
      </select>
    </label>
  )
}
