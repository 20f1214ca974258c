import { useState } from 'react'
import { useClient } from '../../connection/client.ts'
import { Icon } from '../../kit/icon.tsx'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { sidebarTexts as t } from '../../texts/sidebar.ts'
import { useSession } from '../session.ts'
import { useEntering } from './entering.ts'
import { isGuest } from './guest.ts'
import styles from './passkey-offer.module.css'
import { canUsePasskeys, createPasskey } from './passkeys.ts'

const declined = (account: string) => `plaza.no-passkey:${account}`

/** Offers a passkey, once, to people who signed in by another method. */
export function PasskeyOffer() {
  const { account, method } = useSession()
  const [isDeclined, setDeclined] = useState(() => localStorage.getItem(declined(account)) !== null)
  if (method === null || method === 'passkey' || method === 'service' || isDeclined || !canUsePasskeys()) return null
  const decline = () => {
    localStorage.setItem(declined(account), 'yes')
    setDeclined(true)
  }
  return <Offer onDone={decline} />
}

function Offer({ onDone }: { onDone: () => void }) {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const passkeys = useLoaded('offer', async () => (await client.passkeys.list()).credentials.length)
  const adding = useEntering(() => {
    tell(t.passkey.added)
    onDone()
  })
  if (passkeys.value !== 0) return null
  const why = isGuest(account) ? t.passkey.guestHint : t.passkey.memberHint
  return (
    <aside className={styles.offer} aria-label={t.passkey.title}>
      <div className="row" title={why}>
        <button
          type="button"
          className="button small plain grow"
          disabled={adding.busy !== null}
          onClick={() => void adding.attempt('add', () => createPasskey(client))}
        >
          <Icon name="key" />
          {adding.busy ? t.passkey.waiting : isGuest(account) ? t.passkey.guest : t.passkey.member}
          <span className="unseen">. {why}</span>
        </button>
        <button
          type="button"
          className="icon-button small"
          aria-label={t.passkey.later}
          title={t.passkey.later}
          onClick={onDone}
        >
          <Icon name="close" />
        </button>
      </div>
      <Problem error={adding.error} />
    </aside>
  )
}
