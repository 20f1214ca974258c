import { useState } from 'react'
import { runsOf } from '#client/sdk/runs'
import { loadUser } from '../accounts/load-user.ts'
import { SessionContext } from '../accounts/session.ts'
import { guestWallet } from '../accounts/sign-in/guest.ts'
import { AgentMissing } from '../agents/agent-missing.tsx'
import styles from '../agents/agents.module.css'
import { Conversation } from '../agents/conversation.tsx'
import { useAgent } from '../agents/use-agent.ts'
import { useAccount, useClient } from '../connection/client.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { Begin } from './begin.tsx'
import { Notice } from './notice.tsx'
import { useDraft } from './paid-view.tsx'
import type { PublicAgent } from './public-agent.ts'
import { VisitorField } from './visitor-field.tsx'

/** The conversation with an agent that costs nothing: of the account, which a visitor gets with the first question. */
export function FreeView({ agent }: { agent: PublicAgent }) {
  const account = useAccount()
  const [isEntering, setEntering] = useState(false)
  if (account === null || isEntering) return <Visitor agent={agent} isBusy={isEntering} onEntering={setEntering} />
  return <Known key={account} id={agent.id} account={account} />
}

function Visitor(props: { agent: PublicAgent; isBusy: boolean; onEntering: (isEntering: boolean) => void }) {
  const { agent, isBusy, onEntering } = props
  const client = useClient()
  const [draft, setDraft] = useDraft(agent.id)
  const [error, setError] = useState<unknown>(null)
  const ask = async (message: string) => {
    onEntering(true)
    setError(null)
    try {
      if (client.account === null) await client.signIn(await guestWallet())
      const run = runsOf(client).ask(agent.id, message)
      await new Promise<void>((resolve) => {
        const look = () => {
          if (run.state.runId !== null || run.state.status === 'refused') resolve()
        }
        run.subscribe(look)
        look()
      })
      setDraft(run.state.status === 'refused' ? message : '')
    } catch (cause) {
      setError(cause)
    }
    onEntering(false)
  }
  return (
    <>
      <Notice isScripted={agent.scripted} />
      <div className="timeline-frame">
        <section className="timeline" aria-label={t.conversation}>
          <div className={styles.exchanges}>
            <Begin agent={agent} onAsk={(question) => void ask(question)} />
          </div>
        </section>
      </div>
      <div className={styles.agentProblem}>
        <Problem error={error} />
      </div>
      <VisitorField
        name={agent.name}
        text={draft}
        isBusy={isBusy}
        onWrite={setDraft}
        onSend={(message) => void ask(message)}
      />
      <p className={`hint ${styles.agentPageFoot}`}>{isBusy ? t.visitor.entering : t.visitor.guest}</p>
    </>
  )
}

function Known({ id, account }: { id: string; account: string }) {
  const client = useClient()
  const loaded = useLoaded(account, () => loadUser(client))
  const { value: agent, error, isLoading, reload } = useAgent(id)
  if (error && !isLoading) return <AgentMissing error={error} onRetry={reload} />
  if (!loaded.value && loaded.error && !loaded.isLoading)
    return <Problem error={loaded.error} onRetry={loaded.reload} />
  if (!loaded.value || !agent) return <Skeleton rows={9} label={t.loading} />
  const { user, method } = loaded.value
  const signOut = () => client.signOut()
  return (
    <SessionContext value={{ account, user, method, status: null, reload: loaded.reload, signOut }}>
      <Conversation agent={agent} />
    </SessionContext>
  )
}
