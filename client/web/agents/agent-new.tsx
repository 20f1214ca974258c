import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { agentFormOf } from '../messages/drafts.ts'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import { inputOf, newFields, problemOf } from './agent-fields.ts'
import { AgentForm, focusWrong } from './agent-form.tsx'
import { AgentHead } from './agent-head.tsx'
import { BetaAccess } from './beta-access.tsx'
import { useKeptFields } from './use-kept-fields.ts'

export const formWords: ProblemWords = t.problems

export function AgentNew() {
  const client = useClient()
  const { account } = useSession()
  const [fields, setFields, forget] = useKeptFields(agentFormOf(account), newFields)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const create = async () => {
    if (isBusy) return
    if (problemOf(fields)) return focusWrong()
    setBusy(true)
    try {
      const { agent } = await client.agents.create({ ...inputOf(fields, null), name: fields.name })
      forget()
      navigate(linkTo('agentEdit', { agent: agent.id }))
    } catch (cause) {
      setError(cause)
      setBusy(false)
    }
  }

  return (
    <main className="room agents" aria-label={t.new}>
      <AgentHead title={t.new} back={{ title: t.back, go: () => navigate(linkTo('agents')), isAlways: true }} />
      <div className="page narrow">
        <BetaAccess />
        <AgentForm fields={fields} onChange={setFields} onSubmit={() => void create()} isNew>
          <Problem error={error} words={formWords} />
          <div className="row end">
            <span className="hint grow">{t.tryAfter}</span>
            <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
              {t.create}
            </button>
          </div>
        </AgentForm>
      </div>
    </main>
  )
}
