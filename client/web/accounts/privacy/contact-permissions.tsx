import type { ContactsFrom } from '#shared/api/people/account-records'
import { useClient } from '../../connection/client.ts'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useAttempt } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { settingTexts as t } from '../../texts/settings.ts'

const contacts = ['messages_from', 'invites_from', 'calls_from'] as const
const choices: readonly ContactsFrom[] = ['everyone', 'friends', 'nobody']

/** Who may write, invite and call. It holds in every browser of the account. */
export function ContactPermissions() {
  const client = useClient()
  const attempt = useAttempt()
  const own = useLoaded('contacts', async () => (await client.accounts.ownProfile()).user)
  if (!own.value) return own.error ? <Problem error={own.error} onRetry={own.reload} /> : <Skeleton rows={3} />
  const choose = (contact: (typeof contacts)[number], from: ContactsFrom) =>
    attempt(async () => {
      const { user } = await client.accounts.updateProfile({ [contact]: from })
      own.change(() => user)
    })
  return contacts.map((contact) => (
    <fieldset key={contact} className="segments">
      <legend className="label">{t.permissions[contact]}</legend>
      {choices.map((from) => (
        <label key={from}>
          <input
            type="radio"
            name={contact}
            checked={own.value?.[contact] === from}
            onChange={() => void choose(contact, from)}
          />
          <span className="segment">{t.callers[from]}</span>
        </label>
      ))}
    </fieldset>
  ))
}
