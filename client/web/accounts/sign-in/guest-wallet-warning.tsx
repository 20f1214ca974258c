import { Icon } from '../../kit/icon.tsx'
import { walletTexts as t } from '../../texts/wallet.ts'

/** Whoever entered as a guest has a key that nobody can bring back. */
export function GuestWalletWarning() {
  return (
    <p className="banner" role="note">
      <Icon name="warn" />
      {t.guestWarning}
    </p>
  )
}
