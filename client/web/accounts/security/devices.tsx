import { useState } from 'react'
import type { Client } from '#client/sdk/types'
import { deviceIn } from '#shared/kit/device'
import { useClient } from '../../connection/client.ts'
import { ConfirmButton } from '../../kit/confirm-button.tsx'
import { fullTimeOf, shortAddress } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Blank, Listed } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { confirmationTexts } from '../../texts/confirmations.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { signInTexts } from '../../texts/sign-in.ts'

/** The devices that are signed in, with a button that signs each out. */
export function Devices() {
  const client = useClient()
  const tell = useTell()
  const devices = useLoaded('devices', async () => (await client.sessions.list()).sessions)
  const [added, setAdded] = useState<readonly Recent[]>([])
  const endOthers = async () => setAdded((await client.sessions.endOthers()).recently_linked)
  const end = async (act: () => Promise<unknown>, done: string) => {
    await act()
    tell(done)
    devices.reload()
  }

  return (
    <section className="stack" aria-label={t.devices.title}>
      <Listed loaded={devices} empty={<Blank icon="device" title={t.devices.empty} />}>
        {(all) => (
          <>
            <ul className="quiet-list">
              {all.map((device) => (
                <li key={device.id} className="row">
                  <Icon name="device" />
                  <span className="grow">
                    <strong>{deviceIn(device.user_agent) ?? t.devices.unknown}</strong>{' '}
                    {device.is_current && <i className="chip">{t.devices.current}</i>}
                    <small className="hint">
                      {t.devices.used({
                        method: signInTexts.methods[device.auth_method],
                        address: device.ip_address || t.devices.noAddress,
                        used: fullTimeOf(device.last_used_at),
                        time: (parts) => <time dateTime={device.last_used_at}>{parts}</time>,
                      })}
                    </small>
                  </span>
                  {!device.is_current && (
                    <ConfirmButton
                      title={t.devices.signOut}
                      question={confirmationTexts.device}
                      onConfirm={() => end(() => client.sessions.end({ id: device.id }), t.devices.signedOut)}
                    />
                  )}
                </li>
              ))}
            </ul>
            {all.length > 1 && (
              <div className="row end">
                <ConfirmButton
                  title={t.devices.signOutOthers}
                  question={confirmationTexts.otherDevices}
                  onConfirm={() => end(endOthers, t.devices.signedOutOthers)}
                />
              </div>
            )}
          </>
        )}
      </Listed>
      {added.length > 0 && <Added ways={added} onRemoved={(way) => setAdded(added.filter((one) => one !== way))} />}
    </section>
  )
}

type Recent = Awaited<ReturnType<Client['sessions']['endOthers']>>['recently_linked'][number]

const icons = { identity: 'wallet', passkey: 'key', email: 'mail', phone: 'phone' } as const

/** Ways to sign in that were added lately, shown in case somebody else added them. */
function Added(props: { ways: readonly Recent[]; onRemoved: (way: Recent) => void }) {
  const client = useClient()
  const remove = async (way: Recent) => {
    if (way.kind === 'identity') await client.identities.unlink({ id: way.id ?? '' })
    else if (way.kind === 'passkey') await client.passkeys.remove({ id: way.id })
    else if (way.kind === 'phone') await client.phone.remove({})
    else await client.email.remove({})
    props.onRemoved(way)
  }
  return (
    <section className="stack" aria-label={t.devices.recent}>
      <h3 className="label">{t.devices.recent}</h3>
      <p className="hint">{t.devices.recentHint}</p>
      <ul className="quiet-list">
        {props.ways.map((way) => (
          <li key={`${way.kind} ${way.id}`} className="row">
            <Icon name={icons[way.kind]} />
            <span className="grow">
              <strong>{signInTexts.methods[way.method]}</strong>
              <small className="hint">
                {way.kind === 'identity' ? shortAddress(way.identifier) : way.identifier} · {fullTimeOf(way.linked_at)}
              </small>
            </span>
            <ConfirmButton title={t.remove} question={confirmationTexts.signIn} onConfirm={() => remove(way)} />
          </li>
        ))}
      </ul>
    </section>
  )
}
