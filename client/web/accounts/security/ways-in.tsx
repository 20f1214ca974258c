import type { AuthMethod } from '#shared/api/people/identity'
import { useClient } from '../../connection/client.ts'
import { ConfirmButton } from '../../kit/confirm-button.tsx'
import { fullTimeOf, shortAddress } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Listed, Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { confirmationTexts } from '../../texts/confirmations.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { signInTexts } from '../../texts/sign-in.ts'
import { useSession } from '../session.ts'
import { useEntering } from '../sign-in/entering.ts'
import { canUsePasskeys, createPasskey } from '../sign-in/passkeys.ts'
import { linkWallet } from '../sign-in/wallet-way.tsx'
import { useWallets } from '../sign-in/wallets.ts'
import { EmailSettings } from './email-settings.tsx'
import { PhoneSettings } from './phone-settings.tsx'

/** Every way to sign in to this account. */
export function WaysIn() {
  const { status } = useSession()
  return (
    <>
      <Passkeys />
      {status?.sign_in.includes('email') && <EmailSettings />}
      {status?.phone && <PhoneSettings />}
      <LinkedIdentities />
    </>
  )
}

function Passkeys() {
  const client = useClient()
  const tell = useTell()
  const { reload } = useSession()
  const passkeys = useLoaded('passkeys', async () => (await client.passkeys.list()).credentials)
  const adding = useEntering(() => {
    tell(t.passkeys.added)
    passkeys.reload()
    reload()
  })
  const remove = (id: string) =>
    adding.attempt('remove', async () => {
      await client.passkeys.remove({ id })
      passkeys.reload()
      return undefined
    })

  return (
    <section className="stack">
      <h3 className="label">{t.passkeys.title}</h3>
      <Listed loaded={passkeys} empty={<p className="hint">{t.passkeys.empty}</p>}>
        {(all) => (
          <ul className="quiet-list">
            {all.map((passkey) => (
              <li key={passkey.id} className="row">
                <Icon name="key" />
                <span className="grow">
                  <strong>{passkey.deviceName}</strong>{' '}
                  {passkey.backedUp && <i className="chip">{t.passkeys.synced}</i>}{' '}
                  {passkey.isWalletKey && <i className="chip warm">{t.passkeys.signs}</i>}
                  <small className="hint">
                    {passkey.lastUsedAt
                      ? t.passkeys.used({
                          created: fullTimeOf(passkey.createdAt),
                          used: fullTimeOf(passkey.lastUsedAt),
                        })
                      : t.passkeys.created({ created: fullTimeOf(passkey.createdAt) })}
                  </small>
                </span>
                {!passkey.isWalletKey && (
                  <ConfirmButton
                    title={t.remove}
                    question={confirmationTexts.signIn}
                    onConfirm={() => remove(passkey.id)}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </Listed>
      <Problem error={adding.error} />
      {canUsePasskeys() ? (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={adding.busy !== null}
            onClick={() => void adding.attempt('add', () => createPasskey(client))}
          >
            <Icon name="plus" />
            {adding.busy === 'add' ? signInTexts.waiting : t.passkeys.add}
          </button>
        </div>
      ) : (
        <p className="hint">{t.passkeys.unsupported}</p>
      )}
    </section>
  )
}

const linkable: ReadonlySet<AuthMethod> = new Set(['wallet', 'solana', 'worldid', 'alien'])

function LinkedIdentities() {
  const client = useClient()
  const tell = useTell()
  const identities = useLoaded('identities', async () =>
    (await client.identities.list()).identities.filter(({ method }) => linkable.has(method)),
  )
  const linking = useEntering(() => {})
  const wallets = useWallets()
  const change = (what: string, act: () => Promise<unknown>, done: string) =>
    linking.attempt(what, async () => {
      await act()
      tell(done)
      identities.reload()
      return undefined
    })

  return (
    <section className="stack">
      <h3 className="label">{t.accounts.title}</h3>
      <Listed loaded={identities} empty={<p className="hint">{t.accounts.empty}</p>}>
        {(all) => (
          <ul className="quiet-list">
            {all.map(({ id, method, identifier, is_original }) => (
              <li key={`${method} ${identifier}`} className="row">
                <Icon name={method === 'worldid' ? 'people' : method === 'alien' ? 'link' : 'wallet'} />
                <span className="grow">
                  <strong>{signInTexts.methods[method]}</strong>{' '}
                  {is_original && <i className="chip">{t.accounts.original}</i>}
                  <small className="hint" title={identifier}>
                    {shortAddress(identifier)}
                  </small>
                </span>
                {id !== null && !is_original && (
                  <ConfirmButton
                    title={t.accounts.unlink}
                    question={confirmationTexts.signIn}
                    onConfirm={() => change('unlink', () => client.identities.unlink({ id }), t.accounts.unlinked)}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </Listed>
      <Problem error={linking.error} />
      <div className="row wrap">
        {wallets.map((wallet) => (
          <button
            key={wallet.id}
            type="button"
            className="button"
            disabled={linking.busy !== null}
            onClick={() => void change(wallet.id, () => linkWallet(client, wallet), t.accounts.linked)}
          >
            <Icon name="wallet" />
            {linking.busy === wallet.id ? signInTexts.wallet.waiting : t.accounts.link({ wallet: wallet.name })}
          </button>
        ))}
      </div>
      {wallets.length === 0 && <p className="hint">{t.accounts.noWallet}</p>}
    </section>
  )
}
