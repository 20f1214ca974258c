import { useEffect, useState } from 'react'
import { identityChanged } from '#shared/api/identities'
import { AppError } from '#shared/errors'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useSession } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { wayTitles } from './way-titles.ts'

interface Wanted {
  prove(): void
  decline(): void
}

/** Asks the person to sign in again when a call needs a fresh proof, then lets the call continue. */
export function Proof() {
  const client = useClient()
  const { status } = useSession()
  const [wanted, setWanted] = useState<Wanted | null>(null)
  useEffect(
    () =>
      client.provedBy(
        () =>
          new Promise<void>((resolve, reject) =>
            setWanted({ prove: resolve, decline: () => reject(new AppError('REAUTHENTICATION_REQUIRED')) }),
          ),
      ),
    [client],
  )
  if (!wanted) return null
  const settle = (how: () => void) => () => {
    how()
    setWanted(null)
  }
  return (
    <Dialog title="Is it you?" onClose={settle(wanted.decline)}>
      <div className="stack">
        <p>This changes what opens your account. Sign in once more, in any of your ways, and it goes on.</p>
        <SignIn status={status} onEnter={settle(wanted.prove)} />
      </div>
    </Dialog>
  )
}

const titles: Readonly<Record<string, string>> = { ...wayTitles, phone: 'Phone number', service: 'Service token' }

/** Shows a notice when the ways to sign in to this account have changed, on any device. */
export function useIdentityNotices(): void {
  const client = useClient()
  const tell = useTell()
  useEffect(
    () =>
      client.on(identityChanged, ({ change, method }) =>
        tell(
          `What opens your account has changed (${titles[method]}, ${change}). If that was not you, see Settings, Devices.`,
        ),
      ),
    [client, tell],
  )
}
