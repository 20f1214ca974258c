import { isSameAccount } from '#shared/kit/accounts'
import { useSession } from '../accounts/session.ts'
import { useOpenDm } from '../direct/use-open-dm.ts'
import { ActButton } from '../kit/act-button.tsx'
import { useTell } from '../kit/toasts.tsx'
import styles from './profiles.module.css'
import type { Shown } from './shown.ts'

/** What a widget offers to do: to write to somebody, or to copy something. Nobody writes to themself. */
export function WidgetAct({ act }: { act: NonNullable<Shown['act']> }) {
  const { account } = useSession()
  const tell = useTell()
  const openDm = useOpenDm()
  if (act.kind === 'message') {
    if (isSameAccount(act.account, account)) return null
    return (
      <ActButton className={styles.widgetAct} onPress={() => openDm(act.account)}>
        Message
      </ActButton>
    )
  }
  const copy = () =>
    navigator.clipboard.writeText(act.text).then(
      () => void tell('Copied.'),
      () => void tell('The browser does not let this page copy.'),
    )
  return (
    <ActButton className={styles.widgetAct} aria-label={`Copy the ${act.what}`} onPress={copy}>
      Copy
    </ActButton>
  )
}
