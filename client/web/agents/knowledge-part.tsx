import { useState } from 'react'
import type { OwnAgent } from '#shared/api/agents/agent-records'
import type { KnowledgeItem } from '#shared/api/agents/knowledge-records'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated, plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import styles from './agents.module.css'
import { AddKnowledge, EditKnowledge } from './knowledge-forms.tsx'
import { useKnowledge } from './use-knowledge.ts'

const mostItems = { usual: 10, official: 50 }

/** The pages that an agent knows: how far each is read, and why one could not be. */
export function KnowledgePart({ agent }: { agent: OwnAgent }) {
  const knowledge = useKnowledge(agent.id)
  const isOfficial = agent.visibility === 'official'
  const most = isOfficial ? mostItems.official : mostItems.usual
  const count = knowledge.value?.length ?? 0
  const [edited, setEdited] = useState<KnowledgeItem | null>(null)

  return (
    <div className="stack">
      {count < most ? (
        <AddKnowledge isOfficial={isOfficial} onAdd={(url, reading) => knowledge.add(url, reading)} />
      ) : (
        <p className="hint">It knows as many pages as it can. Take one away to add another.</p>
      )}
      {count > 0 && (
        <p className="label">
          {count} of {most} pages
        </p>
      )}
      {count > 0 && !agent.use_knowledge_base && (
        <p className="hint">It answers without these pages, until “Use what it knows” is on in its Settings.</p>
      )}
      <Listed
        loaded={knowledge}
        empty={
          <Blank icon="book" title="It knows no pages yet">
            <p>Add the address of a page, of documentation or of a repository.</p>
          </Blank>
        }
      >
        {(items) => (
          <ul className={styles.agentItems} aria-label="What it knows">
            {items.map((item) => (
              <li key={item.id}>
                <div className="grow">
                  <strong>{isolated(item.title || item.url)}</strong>
                  <small>{item.url}</small>
                  <p className={`${styles.itemState} ${item.status}`} role="status">
                    {item.status === 'processing' && <i aria-hidden="true" />}
                    {wordsOf(item)}
                  </p>
                </div>
                <button
                  type="button"
                  className="icon-button small"
                  aria-label={`Change: ${item.title || item.url}`}
                  title="Change"
                  onClick={() => setEdited(item)}
                >
                  <Icon name="pencil" />
                </button>
                <ActButton
                  className="icon-button small"
                  aria-label={`${item.status === 'failed' ? 'Try again' : 'Read again'}: ${item.title || item.url}`}
                  title={item.status === 'failed' ? 'Try again' : 'Read again'}
                  disabled={item.status === 'processing'}
                  onPress={() => knowledge.read(item.id)}
                >
                  <Icon name="retry" />
                </ActButton>
                <ActButton
                  className="icon-button small"
                  aria-label={`Take away: ${item.title || item.url}`}
                  title="Take away"
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
  const old = stale_since ? ` What was read before ${fullTimeOf(stale_since)} still serves.` : ''
  const again = auto_sync ? ` Read again every ${plural(sync_interval_hours, 'hour')}.` : ''
  if (status === 'processing') return `Being read: ${plural(pages, 'page')} so far.${old}`
  if (status === 'failed') return `${error_message ?? 'It could not be read'}.${old}`
  if (status === 'indexed') return `Read: ${plural(pages, 'page')}, ${plural(chunk_count, 'passage')}.${again}`
  return 'Not read yet.'
}
