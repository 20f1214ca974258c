import { isSameAccount } from '#shared/kit/accounts'
import { useSession } from '../accounts/session.ts'
import { useOpenDm } from '../direct/use-open-dm.ts'
import { ActButton } from '../kit/act-button.tsx'
import { useTell } from '../kit/toasts.tsx'
import { profileTexts as t } from '../texts/profiles.ts'
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
        {t.message}
      </ActButton>
    )
  }
  const copy = () =>
    navigator.clipboard.writeText(act.text).then(
      () => void tell(t.copied),
      () => void tell(t.notCopied),
    )
  return (
    <ActButton className={styles.widgetAct} aria-label={act.label} onPress={copy}>
      {t.copy}
    </ActButton>
  )
}
