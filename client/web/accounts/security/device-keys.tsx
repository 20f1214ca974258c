import { useClient } from '../../connection/client.ts'
import { ConfirmButton } from '../../kit/confirm-button.tsx'
import { fullTimeOf } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Blank, Listed } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { confirmationTexts } from '../../texts/confirmations.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { useSession } from '../session.ts'

/** The devices that open direct messages of the account. */
export function DeviceKeys() {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const keys = useLoaded('device-keys', async () => (await client.deviceKeys.list({ addresses: account })).devices)
  const remove = async (device_id: string) => {
    await client.deviceKeys.remove({ device_id })
    tell(t.keys.removed)
    keys.reload()
  }
  return (
    <section className="stack" aria-label={t.keys.title}>
      <h3 className="label">{t.keys.title}</h3>
      <p className="hint">{t.keys.hint}</p>
      <Listed loaded={keys} empty={<Blank icon="key" title={t.keys.empty} />}>
        {(all) => (
          <ul className="quiet-list">
            {all.map(({ device_id, name, certificate, created_at }) => (
              <li key={device_id} className="row">
                <Icon name="key" />
                <span className="grow">
                  <strong>{name}</strong>
                  <small className="hint">
                    {(certificate ? t.keys.verified : t.keys.unverified)({
                      since: fullTimeOf(created_at),
                      time: (parts) => <time dateTime={created_at}>{parts}</time>,
                    })}
                  </small>
                </span>
                <ConfirmButton
                  title={t.remove}
                  question={confirmationTexts.deviceKey}
                  onConfirm={() => remove(device_id)}
                />
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </section>
  )
}
