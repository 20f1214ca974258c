import { useState } from 'react'
import type { OwnAgent } from '#shared/api/agents/agent-records'
import type { KnowledgeItem } from '#shared/api/agents/knowledge-records'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import styles from './agents.module.css'
import { isGiven } from './knowledge-fields.tsx'
import { AddKnowledge, EditKnowledge } from './knowledge-forms.tsx'
import { useKnowledge } from './use-knowledge.ts'

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
