import { useClient } from '../connection/client.ts'
import { fullTimeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { ConfirmButton } from '../moderation/confirm-button.tsx'
import { useSession } from './session.ts'

/** The devices that open direct messages of the account. */
export function DeviceKeys() {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const keys = useLoaded('device keys', async () => (await client.deviceKeys.list({ addresses: account })).devices)
  const remove = async (device_id: string) => {
    await client.deviceKeys.remove({ device_id })
    tell('That device reads nothing that is sent from now on.')
    keys.reload()
  }
  return (
    <section className="stack" aria-label="Devices that open direct messages">
      <h3 className="label">Devices that open direct messages</h3>
      <p className="hint">
        Each has a key of its own, which never leaves it. Remove what you lost: what it has read, it keeps.
      </p>
      <Listed loaded={keys} empty={<Blank icon="key" title="No devices" />}>
        {(all) => (
          <ul className="quiet-list">
            {all.map(({ device_id, name, certificate, created_at }) => (
              <li key={device_id} className="row">
                <Icon name="key" />
                <span className="grow">
                  <strong>{name}</strong>
                  <small className="hint">
                    {certificate ? 'verified by your account' : 'not verified'} · since{' '}
                    <time dateTime={created_at}>{fullTimeOf(created_at)}</time>
                  </small>
                </span>
                <ConfirmButton title="Remove" onConfirm={() => remove(device_id)} />
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </section>
  )
}
