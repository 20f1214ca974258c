import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { agentEditorTexts } from '../texts/agent-editor.ts'

const t = agentEditorTexts.beta

/** Where admins choose who may create agents, a request for that. */
export function BetaAccess() {
  const client = useClient()
  const { value, reload } = useLoaded('beta', () => client.betaAccess.get())
  if (!value || value.hasBetaAccess) return null
  const apply = async () => {
    await client.betaAccess.apply({})
    reload()
  }
  return (
    <section className="row wrap" aria-label={t.title}>
      <span className="grow" role="status">
        {value.appliedAt === null ? t.hint : t.applied({ time: fullTimeOf(value.appliedAt) })}
      </span>
      {!value.hasApplied && (
        <ActButton className="button" onPress={apply}>
          {t.apply}
        </ActButton>
      )}
    </section>
  )
}
