import { useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { useClient, useConnectionState } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { TourStepHint } from '../tour/tour-hint.tsx'
import { useShownTour } from '../tour/use-tour.ts'
import { AgentHead } from './agent-head.tsx'
import { AgentMissing } from './agent-missing.tsx'
import styles from './agents.module.css'
import { Conversation } from './conversation.tsx'
import { useAgent } from './use-agent.ts'

/** The conversation of the account with one agent. */
export function AgentChat({ id }: { id: string }) {
  const { account } = useSession()
  const connection = useConnectionState()
  const { value: agent, error, reload } = useAgent(id)
  const [asks, setAsks] = useState(false)
  const [round, setRound] = useState(0)
  const tour = useShownTour()
  const isThere = agent !== null
  useEffect(() => {
    if (isThere) tour?.arrived(null)
  }, [isThere, tour])
  if (!agent) return <AgentMissing error={error} onRetry={reload} />

  return (
    <main
      className={`room ${styles.agentRoom}`}
      aria-label={agent.name}
      data-status={connection === 'online' ? 'live' : connection}
    >
      <AgentHead
        title={agent.name}
        emoji={agent.avatar_emoji}
        picture={agent.avatar_url}
        back={{ title: t.back, go: () => navigate(linkTo('agents')), isAlways: true }}
      >
        <button
          type="button"
          className="icon-button"
          aria-label={t.delete}
          title={t.delete}
          onClick={() => setAsks(true)}
        >
          <Icon name="bin" />
        </button>
        {isSameAccount(agent.owner_address, account) && (
          <a className="icon-button" href={linkTo('agentEdit', { agent: id })} aria-label={t.edit} title={t.edit}>
            <Icon name="sliders" />
          </a>
        )}
      </AgentHead>
      <TourStepHint />
      <Conversation key={round} agent={agent} />
      {asks && <Forget id={id} onClose={() => setAsks(false)} onForgotten={() => setRound(round + 1)} />}
    </main>
  )
}

function Forget(props: { id: string; onClose: () => void; onForgotten: () => void }) {
  const client = useClient()
  const [error, setError] = useState<unknown>(null)
  const forget = () =>
    client.agents.forget({ id: props.id }).then(() => {
      props.onForgotten()
      props.onClose()
    }, setError)
  return (
    <Dialog title={t.deletion.title} onClose={props.onClose}>
      <div className="stack">
        <p>{t.deletion.text}</p>
        <Problem error={error} />
        <div className="row end">
          <button type="button" className="button" onClick={props.onClose}>
            {t.deletion.keep}
          </button>
          <button type="button" className="button grave" onClick={() => void forget()}>
            {t.deletion.delete}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
