import { useEffect, useState } from 'react'
import { identityChanged } from '#shared/api/people/identities'
import { AppError } from '#shared/errors'
import { useClient } from '../../connection/client.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { signInTexts as t } from '../../texts/sign-in.ts'
import { useSession } from '../session.ts'
import { SignIn } from './sign-in.tsx'

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
    <Dialog title={t.confirm.title} onClose={settle(wanted.decline)}>
      <div className="stack">
        <p>{t.confirm.hint}</p>
        <SignIn status={status} onEnter={settle(wanted.prove)} />
      </div>
    </Dialog>
  )
}

/** Shows a notice when the ways to sign in to this account have changed, on any device. */
export function useIdentityNotices(): void {
  const client = useClient()
  const tell = useTell()
  useEffect(
    () =>
      client.on(identityChanged, ({ change, method }) =>
        tell((change === 'added' ? t.methodAdded : t.methodRemoved)({ method: t.methods[method] })),
      ),
    [client, tell],
  )
}
