import { useClient } from '../connection/client.ts'
import { useAttempt } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'

type Name = 'findable_by_phone' | 'email_updates_opt_in' | 'do_not_disturb'

/** What the own profile says by yes or no. It holds in every browser of the account. */
export function ProfileSwitch({ name, title }: { name: Name; title: string }) {
  const client = useClient()
  const attempt = useAttempt()
  const own = useLoaded(name, async () => (await client.accounts.ownProfile()).user)
  if (!own.value) return null
  const change = (isOn: boolean) =>
    attempt(async () => {
      const { user } = await client.accounts.updateProfile({ [name]: isOn } as Partial<Record<Name, boolean>>)
      own.change(() => user)
    })
  return (
    <label className="check">
      <input type="checkbox" checked={own.value[name]} onChange={({ target }) => change(target.checked)} />
      {title}
    </label>
  )
}
