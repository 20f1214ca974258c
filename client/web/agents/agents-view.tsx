import { useCallback, useEffect, useState } from 'react'
import { v4 as uuid } from 'uuid'
import { navigate } from 'wouter/use-browser-location'
import { mainConversation } from '#client/sdk/runs'
import { table } from '#client/sdk/table'
import type { Agent } from '#shared/api/agents/agent-records'
import type { Conversation } from '#shared/api/agents/agent-runs'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { useClient, useConnectionState } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { MenuButton, MenuItem } from '../kit/menu.tsx'
import { momentOf } from '../kit/moment.ts'
import { Blank, Listed, Problem } from '../kit/notice.tsx'
import { useLoaded, useSettled } from '../kit/use-loaded.ts'
import { usePages } from '../kit/use-pages.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { TourStepHint } from '../tour/tour-hint.tsx'
import { useShownTour } from '../tour/use-tour.ts'
import { AgentEdit, AgentNew } from './agent-edit.tsx'
import { AgentHead } from './agent-head.tsx'
import agentsStyles from './agents.module.css'
import { AgentsHome } from './agents-home.tsx'
import { AgentMissing, Conversation as ConversationConversation, useAgent } from './conversation.tsx'
import styles from './conversation-list.module.css'

interface ListProps {
  agentId: string
  /** The one that is open. */
  open: string
  list: ConversationsOfAgent
  onDeleted: (id: string) => void
}

const longestTitle = 100

/** The conversations with an agent: open, search, begin, rename and delete one. */
function ConversationList({ agentId, open, list, onDeleted }: ListProps) {
  const { pages, search, setSearch, isSearched } = list
  const [renamed, setRenamed] = useState<Conversation | null>(null)
  const [deleted, setDeleted] = useState<Conversation | null>(null)
  return (
    <div className={styles.conversations}>
      <button
        type="button"
        className="button small"
        onClick={() => navigate(linkTo('agentConversation', { agent: agentId, conversation: uuid() }))}
      >
        <Icon name="plus" />
        {t.talks.new}
      </button>
      <input
        dir="auto"
        className="input"
        type="search"
        aria-label={t.talks.search}
        placeholder={t.talks.search}
        maxLength={100}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <Listed
        loaded={pages}
        empty={
          isSearched ? (
            <Blank icon="search" title={t.talks.notFound} />
          ) : (
            <Blank icon="message" title={t.talks.none}>
              <p>{t.talks.noneHint}</p>
            </Blank>
          )
        }
      >
        {(conversations) => (
          <ul aria-label={t.talks.title}>
            {conversations.map((one) => (
              <li key={one.id} className={one.id === open ? 'chosen' : ''}>
                <a
                  href={linkTo('agentConversation', { agent: agentId, conversation: one.id })}
                  aria-current={one.id === open ? 'page' : undefined}
                >
                  <span dir="auto">{one.title}</span>
                  <small>{momentOf(one.asked_at)}</small>
                </a>
                <MenuButton
                  icon="more"
                  isSmall
                  title={t.talks.more}
                  name={t.talks.moreOf({ title: isolated(one.title) })}
                  label={t.talks.more}
                >
                  <MenuItem icon="pencil" onPress={() => setRenamed(one)}>
                    {t.talks.rename}
                  </MenuItem>
                  <MenuItem icon="bin" isGrave onPress={() => setDeleted(one)}>
                    {t.talks.delete}
                  </MenuItem>
                </MenuButton>
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {pages.more && (
        <ActButton className="button small plain" onPress={pages.more}>
          {t.talks.older}
        </ActButton>
      )}
      {renamed && <Rename conversation={renamed} list={list} onClose={() => setRenamed(null)} />}
      {deleted && (
        <DeleteConversation
          agentId={agentId}
          conversation={deleted.id}
          onClose={() => setDeleted(null)}
          onDeleted={() => onDeleted(deleted.id)}
        />
      )}
    </div>
  )
}

function Rename(props: { conversation: Conversation; list: ConversationsOfAgent; onClose: () => void }) {
  const { conversation, list, onClose } = props
  const [title, setTitle] = useState(conversation.title)
  const save = async () => {
    await list.rename(conversation.id, title.trim())
    onClose()
  }
  return (
    <Dialog title={t.talks.rename} onClose={onClose}>
      <MakeForm label={t.talks.rename} action={t.talks.save} onMake={save}>
        <label className="field">
          <span>{t.talks.name}</span>
          <input
            dir="auto"
            className="input"
            required
            maxLength={longestTitle}
            value={title}
            onChange={({ target }) => setTitle(target.value)}
          />
        </label>
      </MakeForm>
    </Dialog>
  )
}

/** Asks before a conversation is deleted. */
function DeleteConversation(props: {
  agentId: string
  conversation: string
  onClose: () => void
  onDeleted: () => void
}) {
  const client = useClient()
  const [error, setError] = useState<unknown>(null)
  const forget = () =>
    client.agents.forget({ id: props.agentId, sessionId: props.conversation }).then(() => {
      props.onClose()
      props.onDeleted()
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

export function AgentsView({ path }: { path: readonly string[] }) {
  const [id, part, conversation = null] = path
  if (id === undefined) return <AgentsHome />
  if (id === 'new') return <AgentNew />
  if (part === 'edit') return <AgentEdit key={id} id={id} />
  return <AgentChat key={id} id={id} conversation={conversation} />
}

/** A conversation of the account with one agent: that of the address, else the last one. */
function AgentChat({ id, conversation }: { id: string; conversation: string | null }) {
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
          className={`icon-button ${styles.opens}`}
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
      <div className={styles.talk}>
        <aside className={styles.aside} aria-label={t.talks.title}>
          {conversations}
        </aside>
        <div className={`${styles.said} ${agentsStyles.agentRoom}`}>
          <TourStepHint />
          <ConversationConversation key={`${open} ${round}`} agent={agent} session={open} />
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

/** The conversations of the account with an agent, last asked first, and those that a search finds. */
function useConversations(agentId: string) {
  const client = useClient()
  const [search, setSearch] = useState('')
  const wanted = useSettled(search.trim())
  const pages = usePages<Conversation>(`${agentId} ${wanted}`, async (cursor) => {
    const { conversations: items, next_cursor } = await client.agents.conversations({
      id: agentId,
      ...(wanted && { search: wanted }),
      ...(cursor !== undefined && { cursor }),
    })
    return { items, next_cursor }
  })
  const { reload } = pages
  useEffect(
    () =>
      client.on(table.events.runBegun, ({ agent_id }) => {
        if (agent_id === agentId) reload()
      }),
    [client, agentId, reload],
  )
  const rename = useCallback(
    async (sessionId: string, title: string) => {
      await client.agents.renameConversation({ id: agentId, sessionId, title })
      reload()
    },
    [client, agentId, reload],
  )
  return { pages, search, setSearch, isSearched: wanted !== '', rename }
}
type ConversationsOfAgent = ReturnType<typeof useConversations>
