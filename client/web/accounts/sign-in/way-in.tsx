import { useAccount, useClient } from '../../connection/client.ts'
import { BackButton } from '../../kit/back-button.tsx'
import { Problem } from '../../kit/notice.tsx'
import { signInTexts as t } from '../../texts/sign-in.ts'
import { welcomeTexts } from '../../texts/welcome.ts'
import accountsStyles from '../accounts.module.css'
import type { ServerStatus } from '../session.ts'
import { EmailWay } from './email-way.tsx'
import type { Entering } from './entering.ts'
import { createPasskey, enterByPasskey } from './passkeys.ts'
import { RecoverPasskey, rescueIn } from './recover-passkey.tsx'
import { HumanWay, PartnerWay } from './vouched-way.tsx'
import { WalletWay } from './wallet-way.tsx'
import styles from './way-in.module.css'

const titles = { ...welcomeTexts.ways, recovery: t.recovery }
export type WayName = keyof typeof titles

/** One sign-in method, with a button back to the list of methods. */
export function WayIn(props: {
  way: WayName
  entering: Entering
  status: ServerStatus | null
  onOpen: (way: WayName | null) => void
  /** Opens another method, which continues after this one failed. */
  onRescue: (way: WayName) => void
}) {
  const { way, entering, status, onOpen } = props
  return (
    <section className={styles.wayIn} aria-label={titles[way]} ref={focusFirst}>
      <header className="row">
        <BackButton title={t.back} onPress={() => onOpen(null)} />
        <h2>{titles[way]}</h2>
      </header>
      {way === 'passkey' && (
        <PasskeyWay entering={entering} onLost={() => onOpen('recovery')} onRescue={props.onRescue} />
      )}
      {way === 'email' && <EmailWay entering={entering} status={status} />}
      {way === 'wallet' && <WalletWay entering={entering} />}
      {way === 'recovery' && <RecoverPasskey entering={entering} status={status} rescue={rescueIn(entering.error)} />}
      {way === 'worldid' && <HumanWay entering={entering} />}
      {way === 'alien' && <PartnerWay entering={entering} />}
    </section>
  )
}

const focusFirst = (section: HTMLElement | null) => {
  const first = section?.querySelector<HTMLElement>('.input, .button.main') ?? section?.querySelector('button')
  first?.focus()
}

function PasskeyWay(props: { entering: Entering; onLost: () => void; onRescue: (way: WayName) => void }) {
  const client = useClient()
  const account = useAccount()
  const { busy, error, attempt } = props.entering
  const use = () =>
    attempt('use', () =>
      enterByPasskey(client).catch((cause: unknown) => {
        if (rescueIn(cause)) props.onRescue('recovery')
        throw cause
      }),
    )
  return (
    <div className="stack">
      <p>{t.passkey.hint}</p>
      <Problem error={error} />
      <div className="row wrap">
        <button type="button" className="button main" disabled={busy !== null} onClick={() => void use()}>
          {busy === 'use' ? t.waiting : t.passkey.use}
        </button>
        {account === null && (
          <button
            type="button"
            className="button"
            disabled={busy !== null}
            onClick={() => void attempt('create', () => createPasskey(client))}
          >
            {busy === 'create' ? t.waiting : t.passkey.create}
          </button>
        )}
      </div>
      <button type="button" className={accountsStyles.link} onClick={props.onLost}>
        {t.passkey.lost}
      </button>
    </div>
  )
}
