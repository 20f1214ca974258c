import { type FormEvent, useState } from 'react'
import type { ShownSettings } from '#shared/api/scheduling'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useTell } from '../kit/toasts.tsx'

const words: ProblemWords = {
  EMAIL_NOT_VERIFIED: 'Add an e-mail address under “Sign-in & security” first: letters about calls go there.',
  SLUG_TAKEN: 'This address is taken. Choose another.',
}

/** Whether the account can be booked, and at which address. */
export function SharePage({ account, stored }: { account: string; stored: ShownSettings }) {
  const client = useClient()
  const tell = useTell()
  const [isOn, setOn] = useState(stored.scheduling_enabled)
  const [slug, setSlug] = useState(stored.scheduling_slug ?? '')
  const [saved, setSaved] = useState(stored)
  const [problem, setProblem] = useState<unknown>(null)
  const address = location.origin + linkTo('schedule', { slug: saved.scheduling_slug ?? account })
  const save = (event: FormEvent) => {
    event.preventDefault()
    client.scheduling.configure({ scheduling_enabled: isOn, scheduling_slug: slug || null }).then(({ settings }) => {
      setSaved(settings)
      setProblem(null)
      tell('Saved.')
    }, setProblem)
  }
  const copy = async () => {
    await navigator.clipboard.writeText(address)
    tell('Copied')
  }
  return (
    <form className="stack" aria-label="Your page" onSubmit={save}>
      <label className="row">
        <input type="checkbox" checked={isOn} onChange={({ target }) => setOn(target.checked)} />
        <span>Anybody may book a call with you</span>
      </label>
      <label className="field">
        <span>Your own word in its address, if you like</span>
        <input
          dir="auto"
          className="input"
          pattern="[a-z0-9\-]{3,30}"
          title="3 to 30 lowercase letters, digits and hyphens"
          maxLength={30}
          value={slug}
          onChange={({ target }) => setSlug(target.value)}
        />
      </label>
      <Problem error={problem} words={words} />
      {saved.scheduling_paid_enabled && saved.scheduling_price_cents > 0 && !saved.payable && (
        <p className="hint">Calls with a price cannot be booked: nothing here carries out payments of their network.</p>
      )}
      {saved.scheduling_enabled && (
        <div className="row wrap">
          <a className="grow page-address" href={address} target="_blank" rel="noopener" dir="ltr">
            {address}
          </a>
          <ActButton className="button small" aria-label="Copy the address of your page" onPress={copy}>
            Copy
          </ActButton>
        </div>
      )}
      <div className="row end">
        <button type="submit" className="button main small">
          Save
        </button>
      </div>
    </form>
  )
}
