import { type FormEvent, useState } from 'react'
import type { KnowledgeItem } from '#shared/api/agents/knowledge-records'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import styles from './agents.module.css'
import { KnowledgeFields, newReading, patternsProblem, readingInput, readingOf } from './knowledge-fields.tsx'

type Reading = ReturnType<typeof readingInput>

export function AddKnowledge(props: { isOfficial: boolean; onAdd: (url: string, reading: Reading) => Promise<void> }) {
  const { isOfficial, onAdd } = props
  const [url, setUrl] = useState('')
  const [fields, setFields] = useState(newReading)
  const [error, setError] = useState<unknown>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (patternsProblem(fields.excludePatterns)) return
    try {
      await onAdd(url.trim(), readingInput(fields, isOfficial))
      setUrl('')
      setFields(newReading)
      setError(null)
    } catch (cause) {
      setError(cause)
    }
  }
  return (
    <form className="stack" aria-label={t.knowledge.add} onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>{t.knowledge.address}</span>
        <input
          dir="auto"
          className="input"
          inputMode="url"
          placeholder="https://"
          maxLength={4_096}
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          required
        />
        <small>{t.knowledge.addressHint}</small>
      </label>
      <details className={styles.moreFields}>
        <summary>{isOfficial ? t.knowledge.more : t.knowledge.moreTitle}</summary>
        <div className="stack">
          <KnowledgeFields fields={fields} isOfficial={isOfficial} onChange={setFields} />
        </div>
      </details>
      <Problem error={error} />
      <div className="row end">
        <button type="submit" className="button main small">
          {t.knowledge.submit}
        </button>
      </div>
    </form>
  )
}

export function EditKnowledge(props: {
  item: KnowledgeItem
  isOfficial: boolean
  onSave: (reading: Reading) => Promise<void>
  onClose: () => void
}) {
  const { item, isOfficial, onSave, onClose } = props
  const [fields, setFields] = useState(() => readingOf(item))
  const [error, setError] = useState<unknown>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (patternsProblem(fields.excludePatterns)) return
    onSave(readingInput(fields, isOfficial)).then(onClose, setError)
  }
  return (
    <Dialog title={t.knowledge.editTitle} onClose={onClose}>
      <form className="stack" aria-label={t.knowledge.page} onSubmit={submit}>
        <p className="hint">{item.url}</p>
        <KnowledgeFields fields={fields} isOfficial={isOfficial} onChange={setFields} />
        {isOfficial && <p className="hint">{t.knowledge.editHint}</p>}
        <Problem error={error} />
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" className="button main">
            {t.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
