import { linkTo } from '#shared/kit/pages'
import { ActButton } from '../kit/act-button.tsx'
import { useTell } from '../kit/toasts.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'

/** The address of an agent's page, which its owner can give to anybody. */
export function ShareLink({ id }: { id: string }) {
  const tell = useTell()
  const address = location.origin + linkTo('agent', { agent: id })
  const copy = async () => {
    await navigator.clipboard.writeText(address)
    tell(t.copied)
  }
  return (
    <section className="stack" aria-labelledby="page-of-agent">
      <h2 id="page-of-agent" className="label">
        {t.price.page}
      </h2>
      <div className="row wrap">
        <a className="grow page-address" href={address} target="_blank" rel="noopener" dir="ltr">
          {address}
        </a>
        <ActButton className="button small" aria-label={t.price.copyPage} onPress={copy}>
          {t.copy}
        </ActButton>
      </div>
    </section>
  )
}
