import { useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { mainConversation } from '#client/sdk/runs'
import type { Agent } from '#shared/api/agents/agent-records'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { useClient, useConnectionState } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { TourStepHint } from '../tour/tour-hint.tsx'
import { useShownTour } from '../tour/use-tour.ts'
import { AgentHead } from './agent-head.tsx'
import { AgentMissing } from './agent-missing.tsx'
import styles from './agents.module.css'
import { Conversation } from './conversation.tsx'
import listStyles from './conversation-list.module.css'
import { ConversationList, DeleteConversation } from './conversation-list.tsx'
import { useAgent } from './use-agent.ts'
import { useConversations } from './use-conversations.ts'

/** A conversation of the account with one agent: that of the address, else the last one. */
export function AgentChat({ id, conversation }: { id: string; conversation: string | null }) {
  const client = useClient()
  const { value: agent, error, reload } = useAgent(id)
  const [round, setRound] = useState(0)
  const last = useLoaded(`${id} ${round}`, async () => {
    const { conversations } = await client.agents.conversations({ id, limit: 1 })
    return conversations[0]?.id ?? mainConversation
  })
  const open = conversation ?? last.value
  const problem = error || (open === null ? last.error : null)
  const retry = () => {
    reload()
    last.reload()
  }
  if (!agent || open === null) return <AgentMissing error={problem} onRetry={retry} />
  const leave = () => {
    navigate(linkTo('agentChat', { agent: id }))
    setRound(round + 1)
  }
  return <Chat agent={agent} open={open} round={round} onLeave={leave} />
}

function Chat(props: { agent: Agent; open: string; round: number; onLeave: () => void }) {
  const { agent, open, round, onLeave } = props
  const { id } = agent
  const { account } = useSession()
  const connection = useConnectionState()
  const list = useConversations(id)
  const [asks, setAsks] = useState(false)
  const [isListed, setListed] = useState(false)
  const tour = useShownTour()
  useEffect(() => {
    tour?.arrived(null)
  }, [tour])
  // Another conversation was chosen in the dialog.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when another one opens.
  useEffect(() => setListed(false), [open])
  const title = list.pages.value?.find((one) => one.id === open)?.title
  const deleted = (gone: string) => {
    list.pages.reload()
    if (gone === open) onLeave()
  }
  const conversations = <ConversationList agentId={id} open={open} list={list} onDeleted={deleted} />

  return (
    <main className="room" aria-label={agent.name} data-status={connection === 'online' ? 'live' : connection}>
      <AgentHead
        title={agent.name}
        emoji={agent.avatar_emoji}
        picture={agent.avatar_url}
        about={title && <span>{isolated(title)}</span>}
        back={{ title: t.back, go: () => navigate(linkTo('agents')), isAlways: true }}
      >
        <button
          type="button"
          className={`icon-button ${listStyles.opens}`}
          aria-label={t.talks.title}
          title={t.talks.title}
          onClick={() => setListed(true)}
        >
          <Icon name="message" />
        </button>
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
      <div className={listStyles.talk}>
        <aside className={listStyles.aside} aria-label={t.talks.title}>
          {conversations}
        </aside>
        <div className={`${listStyles.said} ${styles.agentRoom}`}>
          <TourStepHint />
          <Conversation key={`${open} ${round}`} agent={agent} session={open} />
        </div>
      </div>
      {isListed && (
        <Dialog title={t.talks.title} onClose={() => setListed(false)}>
          {conversations}
        </Dialog>
      )}
      {asks && (
        <DeleteConversation
          agentId={id}
          conversation={open}
          onClose={() => setAsks(false)}
          onDeleted={() => deleted(open)}
        />
      )}
    </main>
  )
}
