import { deviceIn } from '#shared/kit/device'
import { useClient } from '../connection/client.ts'
import { fullTimeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { ConfirmButton } from '../moderation/confirm-button.tsx'
import { wayTitles } from './way-titles.ts'

/** The devices that are signed in, and an end to each. */
export function Devices() {
  const client = useClient()
  const tell = useTell()
  const attempt = useAttempt()
  const devices = useLoaded('devices', async () => (await client.sessions.list()).sessions)
  const end = (act: () => Promise<unknown>, done: string) =>
    attempt(async () => {
      await act()
      tell(done)
      devices.reload()
    })

  return (
    <section className="stack" aria-label="Devices">
      <Listed loaded={devices} empty={<Blank icon="device" title="No devices" />}>
        {(all) => (
          <>
            <ul className="quiet-list">
              {all.map((device) => (
                <li key={device.id} className="row">
                  <Icon name="device" />
                  <span className="grow">
                    <strong>{deviceIn(device.user_agent) ?? 'Unknown device'}</strong>{' '}
                    {device.is_current && <i className="chip">This device</i>}
                    <small className="hint">
                      {wayTitles[device.auth_method]} · {device.ip_address || 'address unknown'} · last used{' '}
                      <time dateTime={device.last_used_at}>{fullTimeOf(device.last_used_at)}</time>
                    </small>
                  </span>
                  {!device.is_current && (
                    <ConfirmButton
                      title="Sign out"
                      onConfirm={() => end(() => client.sessions.end({ id: device.id }), 'That device is signed out.')}
                    />
                  )}
                </li>
              ))}
            </ul>
            {all.length > 1 && (
              <div className="row end">
                <ConfirmButton
                  title="Sign out everywhere else"
                  onConfirm={() => end(() => client.sessions.endOthers(), 'Every other device is signed out.')}
                />
              </div>
            )}
          </>
        )}
      </Listed>
    </section>
  )
}
