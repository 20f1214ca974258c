import { useState } from 'react'
import type { Preferences } from '#shared/api/platform/push'
import { AppError } from '#shared/errors'
import { useClient } from '../../connection/client.ts'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { problemText } from '../../kit/problem.ts'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { canNotify, isNotified, setNotified } from '../../rooms/use-attention.ts'
import { locale } from '../../texts/language.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { ProfileSwitch } from '../profile-switch.tsx'
import { useSession } from '../session.ts'
import { canPush, goOn, isPushedTo, turnOff, turnOn } from './push.ts'

const kinds = ['notifyDms', 'notifyGroups', 'notifyChannels', 'notifyCalls', 'notifyInvitations'] as const

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
        <h3 className="label">{t.notifications.browser}</h3>
        <NotifySwitch />
        <PushSwitch />
        {canNotify() && Notification.permission === 'denied' && <p className="hint">{t.notifications.refused}</p>}
      </section>
      <section className="stack">
        <h3 className="label">{t.notifications.account}</h3>
        <ProfileSwitch name="do_not_disturb" title={t.notifications.paused} />
      </section>
      <Problem error={preferences.error} onRetry={preferences.reload} />
      {preferences.value ? (
        <>
          <section className="stack">
            <h3 className="label">{t.notifications.which}</h3>
            {kinds.map((name) => (
              <label key={name} className="check">
                <input
                  type="checkbox"
                  checked={preferences.value?.[name] ?? false}
                  onChange={({ target }) => change({ [name]: target.checked } as Partial<Preferences>)}
                />
                {t.kinds[name]}
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

const pushWords = { INVALID_PARAMETER: t.notifications.unknownService }

function PushSwitch() {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const isOn = useLoaded('pushed', async () => {
    // A reload opens the settings at once: a dropped subscription is renewed before it is shown.
    await goOn(client, account).catch(() => {})
    return isPushedTo(account)
  })
  const [isBusy, setBusy] = useState(false)
  if (!canPush()) return <p className="hint">{t.notifications.closedUnsupported}</p>
  const change = async (isWanted: boolean) => {
    if (isBusy) return
    setBusy(true)
    try {
      if (!isWanted) await turnOff(client)
      else if (!(await turnOn(client, account))) tell(t.notifications.refused)
    } catch (error) {
      tell(error instanceof AppError ? problemText(error, pushWords) : t.notifications.unreached)
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
      {t.notifications.closed}
    </label>
  )
}

const hours = Array.from({ length: 24 }, (_, hour) => hour)
const hourName = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' })
const { timeZone: ownZone } = Intl.DateTimeFormat().resolvedOptions()
/** About the same hour by the clock of this browser. */
const ofUtc = (hour: number) => (hour + Math.round(-new Date().getTimezoneOffset() / 60) + 24) % 24

/** Hours are by the clocks of where they were chosen; without a zone they are of UTC, and shown by the clock of this browser. */
function QuietHours({ stored, onChange }: { stored: Preferences; onChange: (next: Partial<Preferences>) => void }) {
  const { quietTimezone: zone } = stored
  const shown = (hour: number | null) => (hour === null || zone !== null ? hour : ofUtc(hour))
  const [from, to] = [shown(stored.quietStart), shown(stored.quietEnd)]
  const isOn = from !== null && to !== null
  const choose = (quietStart: number, quietEnd: number) => onChange({ quietStart, quietEnd, quietTimezone: ownZone })
  return (
    <section className="stack">
      <h3 className="label">{t.notifications.quietHours}</h3>
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) => (target.checked ? choose(22, 7) : onChange({ quietStart: null, quietEnd: null }))}
        />
        {t.notifications.quiet}
      </label>
      {isOn && (
        <div className="row">
          <Hour title={t.notifications.from} chosen={from} onChoose={(hour) => choose(hour, to)} />
          <Hour title={t.notifications.to} chosen={to} onChoose={(hour) => choose(from, hour)} />
        </div>
      )}
      {isOn && zone !== null && zone !== ownZone && (
        <p className="hint">{t.notifications.zone({ zone, own: ownZone })}</p>
      )}
    </section>
  )
}

function Hour({ title, chosen, onChoose }: { title: string; chosen: number; onChoose: (hour: number) => void }) {
  return (
    <label className="field grow">
      <span>{title}</span>
      <select className="input" value={chosen} onChange={({ target }) => onChoose(Number(target.value))}>
        {hours.map((hour) => (
          <option key={hour} value={hour}>
            {hourName.format(new Date(2026, 0, 1, hour))}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Whether this browser shows notifications of direct messages and mentions while the page is hidden. */
function NotifySwitch() {
  const tell = useTell()
  const [isOn, setOn] = useState(isNotified)
  if (!canNotify()) return null
  const change = async (isWanted: boolean) => {
    const isNow = await setNotified(isWanted)
    setOn(isNow)
    if (isWanted && !isNow) tell(t.notifications.refused)
  }
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={(event) => void change(event.target.checked)} />
      {t.notifications.open}
    </label>
  )
}
