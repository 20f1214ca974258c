import { Icon } from '../kit/icon.tsx'

/** Whoever entered as a guest has a key that nobody can bring back. */
export function GuestWalletWarning() {
  return (
    <p className="banner" role="note">
      <Icon name="warn" />
      Your own wallet is a key in this browser alone. Once its data is cleared, nobody can get at the money. Name
      another wallet.
    </p>
  )
}
