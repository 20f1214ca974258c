import { useState } from 'react'
import { v4 as uuid } from 'uuid'
import { navigate } from 'wouter/use-browser-location'
import type { Conversation } from '#shared/api/agents/agent-conversations'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { MenuButton, MenuItem } from '../kit/menu.tsx'
import { momentOf } from '../kit/moment.ts'
import { Blank, Listed, Problem } from '../kit/notice.tsx'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './conversation-list.module.css'
import type { ConversationsOfAgent } from './use-conversations.ts'

interface ListProps {
  agentId: string
  /** The one that is open. */
  open: string
  list: ConversationsOfAgent
  onDeleted: (id: string) => void
}

const longestTitle = 100

/** The conversations with an agent: open, search, begin, rename and delete one. */
export function ConversationList({ agentId, open, list, onDeleted }: ListProps) {
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
export function DeleteConversation(props: {
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
