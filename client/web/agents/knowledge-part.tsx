import { useEffect, useRef, useState } from 'react'
import { asAppError, wasNotAnswered } from '#client/sdk/failures'
import { table } from '#client/sdk/table'
import type { OwnAgent } from '#shared/api/agents/agent-records'
import type { KnowledgeItem } from '#shared/api/agents/knowledge'
import { useClient, useConnectionState } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import styles from './agents.module.css'
import { isGiven, type readingInput } from './knowledge-fields.tsx'
import { AddKnowledge, EditKnowledge } from './knowledge-forms.tsx'

const lookAgainMilliseconds = 3_000

/** An agent's knowledge as it changes: by events, or by polling while a source is being read. */
function useKnowledge(agentId: string) {
  const client = useClient()
  const connection = useConnectionState()
  const isLive = connection === 'online'
  const loaded = useLoaded(agentId, async () => {
    const { items } = isLive
      ? await client.knowledge.watch({ agent_id: agentId })
      : await client.knowledge.list({ id: agentId })
    return items
  })
  const { change, reload } = loaded

  useEffect(
    () =>
      client.on(
        table.events.knowledgeEvent,
        ({ agent_id, knowledge_id, status, pages, chunks, error, stale_since }) => {
          if (agent_id !== agentId) return
          change((items) =>
            status === 'removed'
              ? items.filter(({ id }) => id !== knowledge_id)
              : items.map((item) =>
                  item.id === knowledge_id
                    ? { ...item, status, pages, chunk_count: chunks, error_message: error, stale_since }
                    : item,
                ),
          )
        },
      ),
    [client, agentId, change],
  )
  const was = useRef(isLive)
  useEffect(() => {
    if (was.current !== isLive) reload()
    was.current = isLive
  }, [isLive, reload])
  const isReading = loaded.value?.some(({ status }) => status === 'processing') === true
  useEffect(() => {
    if (isLive || !isReading) return
    const timer = setInterval(reload, lookAgainMilliseconds)
    return () => clearInterval(timer)
  }, [isLive, isReading, reload])

  return {
    ...loaded,
    async add(url: string, reading: ReturnType<typeof readingInput>) {
      await this.show((await client.knowledge.add({ id: agentId, url, ...reading })).item)
    },
    async addText(title: string, text: string) {
      await this.show((await client.knowledge.addText({ id: agentId, title, text })).item)
    },
    async addFile(file: File) {
      await this.show((await client.knowledge.addFile({ id: agentId, file, name: file.name })).item)
    },
    async show(item: KnowledgeItem) {
      change((items) => [...items.filter(({ id }) => id !== item.id), item])
      await this.read(item.id)
    },
    /** Reads a page. Its item shows the result. */
    async read(knowledgeId: string) {
      change((items) =>
        items.map((item) => (item.id === knowledgeId ? { ...item, status: 'processing', pages: 0 } : item)),
      )
      void client.knowledge
        .index({ id: agentId, knowledgeId })
        .catch((error: unknown) => wasNotAnswered(asAppError(error)) || reload())
        .then(() => isLive || reload())
    },
    async update(knowledgeId: string, reading: ReturnType<typeof readingInput>) {
      const { item } = await client.knowledge.update({ id: agentId, knowledge_id: knowledgeId, ...reading })
      change((items) => items.map((one) => (one.id === knowledgeId ? item : one)))
    },
    async remove(knowledgeId: string) {
      await client.knowledge.remove({ id: agentId, knowledge_id: knowledgeId })
      change((items) => items.filter(({ id }) => id !== knowledgeId))
    },
  }
}

const mostItems = { usual: 10, official: 50 }

/** The pages, files and texts that an agent knows: how far each is read, and why one could not be. */
export function KnowledgePart({ agent }: { agent: OwnAgent }) {
  const knowledge = useKnowledge(agent.id)
  const isOfficial = agent.visibility === 'official'
  const most = isOfficial ? mostItems.official : mostItems.usual
  const count = knowledge.value?.length ?? 0
  const [edited, setEdited] = useState<KnowledgeItem | null>(null)

  return (
    <div className="stack">
      {count < most ? (
        <AddKnowledge
          isOfficial={isOfficial}
          onAdd={(url, reading) => knowledge.add(url, reading)}
          onText={(title, text) => knowledge.addText(title, text)}
          onFile={(file) => knowledge.addFile(file)}
        />
      ) : (
        <p className="hint">{t.knowledge.full}</p>
      )}
      {count > 0 && <p className="label">{t.knowledge.count({ count, most })}</p>}
      {count > 0 && !agent.use_knowledge_base && <p className="hint">{t.knowledge.unused}</p>}
      <Listed
        loaded={knowledge}
        empty={
          <Blank icon="book" title={t.knowledge.none}>
            <p>{t.knowledge.noneHint}</p>
          </Blank>
        }
      >
        {(items) => (
          <ul className={styles.agentItems} aria-label={t.knowledge.list}>
            {items.map((item) => (
              <li key={item.id}>
                <div className="grow">
                  <strong>{isolated(item.title || item.url)}</strong>
                  <small>{isGiven(item) ? t.knowledgeKinds[item.content_type] : item.url}</small>
                  <p className={`${styles.itemState} ${item.status}`} role="status">
                    {item.status === 'processing' && <i aria-hidden="true" />}
                    {wordsOf(item)}
                  </p>
                </div>
                <button
                  type="button"
                  className="icon-button small"
                  aria-label={t.knowledge.editOf({ title: item.title || item.url })}
                  title={t.knowledge.edit}
                  onClick={() => setEdited(item)}
                >
                  <Icon name="pencil" />
                </button>
                <ActButton
                  className="icon-button small"
                  aria-label={(item.status === 'failed' ? t.knowledge.retryOf : t.knowledge.readAgainOf)({
                    title: item.title || item.url,
                  })}
                  title={item.status === 'failed' ? t.knowledge.retry : t.knowledge.readAgain}
                  disabled={item.status === 'processing'}
                  onPress={() => knowledge.read(item.id)}
                >
                  <Icon name="retry" />
                </ActButton>
                <ActButton
                  className="icon-button small"
                  aria-label={t.knowledge.removeOf({ title: item.title || item.url })}
                  title={t.knowledge.remove}
                  onPress={() => knowledge.remove(item.id)}
                >
                  <Icon name="bin" />
                </ActButton>
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {edited && (
        <EditKnowledge
          item={edited}
          isOfficial={isOfficial}
          onSave={(reading) => knowledge.update(edited.id, reading)}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  )
}

function wordsOf(item: KnowledgeItem): string {
  const { status, pages, chunk_count, error_message, stale_since, auto_sync, sync_interval_hours } = item
  const old = stale_since ? ` ${t.reading.stale({ time: fullTimeOf(stale_since) })}` : ''
  const again = auto_sync ? ` ${t.reading.every({ count: sync_interval_hours })}` : ''
  if (status === 'processing') return t.reading.processing({ count: pages }) + old
  if (status === 'failed') return t.reading.failed({ reason: error_message ?? t.reading.unreadable }) + old
  if (status === 'indexed') return t.reading.indexed({ pages, count: chunk_count }) + again
  return t.reading.pending
}
