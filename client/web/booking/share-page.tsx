import { type FormEvent, useState } from 'react'
import type { ShownSettings } from '#shared/api/meetings/scheduling'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useTell } from '../kit/toasts.tsx'
import { bookedCallTexts as t } from '../texts/booked-calls.ts'

const words: ProblemWords = t.problems

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
      tell(t.share.saved)
    }, setProblem)
  }
  const copy = async () => {
    await navigator.clipboard.writeText(address)
    tell(t.copied)
  }
  return (
    <form className="stack" aria-label={t.share.title} onSubmit={save}>
      <label className="row">
        <input type="checkbox" checked={isOn} onChange={({ target }) => setOn(target.checked)} />
        <span>{t.share.on}</span>
      </label>
      <label className="field">
        <span>{t.share.slug}</span>
        <input
          dir="auto"
          className="input"
          pattern="[a-z0-9\-]{3,30}"
          title={t.share.slugHint}
          maxLength={30}
          value={slug}
          onChange={({ target }) => setSlug(target.value)}
        />
      </label>
      <Problem error={problem} words={words} />
      {saved.scheduling_paid_enabled && saved.scheduling_price_cents > 0 && !saved.payable && (
        <p className="hint">{t.share.unpayable}</p>
      )}
      {saved.scheduling_enabled && (
        <div className="row wrap">
          <a className="grow page-address" href={address} target="_blank" rel="noopener" dir="ltr">
            {address}
          </a>
          <ActButton className="button small" aria-label={t.share.copyAddress} onPress={copy}>
            {t.share.copy}
          </ActButton>
        </div>
      )}
      <div className="row end">
        <button type="submit" className="button main small">
          {t.share.save}
        </button>
      </div>
    </form>
  )
}
