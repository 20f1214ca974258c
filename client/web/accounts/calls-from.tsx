import type { CallsFrom as Allowed } from '#shared/api/people/account-records'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { settingTexts as t } from '../texts/settings.ts'

const choices: readonly Allowed[] = ['friends', 'everyone', 'nobody']

/** Who may ring. It holds in every browser of the account. */
export function CallsFrom() {
  const client = useClient()
  const attempt = useAttempt()
  const own = useLoaded('calls', async () => (await client.accounts.ownProfile()).user)
  if (!own.value) return <Problem error={own.error} onRetry={own.reload} />
  const choose = (calls_from: Allowed) =>
    attempt(async () => {
      const { user } = await client.accounts.updateProfile({ calls_from })
      own.change(() => user)
    })
  return (
    <fieldset className="segments">
      <legend className="label">{t.privacy.calls}</legend>
      {choices.map((who) => (
        <label key={who}>
          <input
            type="radio"
            name="calls-from"
            checked={own.value?.calls_from === who}
            onChange={() => void choose(who)}
          />
          <span className="segment">{t.callers[who]}</span>
        </label>
      ))}
    </fieldset>
  )
}
