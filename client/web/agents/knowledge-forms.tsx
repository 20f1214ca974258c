import { type FormEvent, useState } from 'react'
import type { KnowledgeItem } from '#shared/api/agents/knowledge'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { Problem } from '../kit/notice.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import { locale } from '../texts/language.ts'
import styles from './agents.module.css'
import { isGiven, KnowledgeFields, newReading, patternsProblem, readingInput, readingOf } from './knowledge-fields.tsx'

type Reading = ReturnType<typeof readingInput>

interface AddProps {
  isOfficial: boolean
  onAdd: (url: string, reading: Reading) => Promise<void>
  onText: (title: string, text: string) => Promise<void>
  onFile: (file: File) => Promise<void>
}

const ways = ['page', 'file', 'text'] as const

/** A page, a file or a text for an agent to know. */
export function AddKnowledge({ isOfficial, onAdd, onText, onFile }: AddProps) {
  const [way, setWay] = useState<(typeof ways)[number]>('page')
  return (
    <div className="stack">
      <fieldset className="row wrap" aria-label={t.knowledge.way}>
        {ways.map((name) => (
          <button key={name} type="button" className="chip" aria-pressed={way === name} onClick={() => setWay(name)}>
            {t.knowledgeWays[name]}
          </button>
        ))}
      </fieldset>
      {/* What is written in one of them stays there. */}
      <div hidden={way !== 'page'}>
        <AddPage isOfficial={isOfficial} onAdd={onAdd} />
      </div>
      <div hidden={way !== 'file'}>
        <AddFile onFile={onFile} />
      </div>
      <div hidden={way !== 'text'}>
        <AddText onText={onText} />
      </div>
    </div>
  )
}

const fileTypes = '.pdf,.docx,.md,.markdown,.txt,.csv,.html'

function AddFile({ onFile }: Pick<AddProps, 'onFile'>) {
  const [error, setError] = useState<unknown>(null)
  const [reading, setReading] = useState<string | null>(null)
  const add = async (files: readonly File[]) => {
    setError(null)
    try {
      for (const file of files) {
        setReading(file.name)
        await onFile(file)
      }
    } catch (cause) {
      setError(cause)
    }
    setReading(null)
  }
  return (
    <div className="stack">
      <label className="field">
        <span>{t.knowledge.file}</span>
        <input
          className="input"
          type="file"
          multiple
          accept={fileTypes}
          disabled={reading !== null}
          onChange={({ target }) => {
            const files = [...(target.files ?? [])]
            target.value = ''
            void add(files)
          }}
        />
        <small>{t.knowledge.fileHint}</small>
      </label>
      {reading !== null && (
        <p className="hint" role="status">
          {t.knowledge.readingFile({ name: isolated(reading) })}
        </p>
      )}
      <Problem error={error} />
    </div>
  )
}

const longestTitle = 200
const longestText = 25_000

function AddText({ onText }: Pick<AddProps, 'onText'>) {
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const add = async () => {
    await onText(title.trim(), text)
    setTitle('')
    setText('')
  }
  return (
    <MakeForm label={t.knowledgeWays.text} action={t.knowledge.submit} onMake={add}>
      <label className="field">
        <span>{t.knowledge.textTitle}</span>
        <input
          dir="auto"
          className="input"
          required
          maxLength={longestTitle}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
      </label>
      <label className="field">
        <span>{t.knowledge.text}</span>
        <textarea
          dir="auto"
          className="input"
          rows={6}
          required
          maxLength={longestText}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <small>{t.knowledge.textHint({ most: longestText.toLocaleString(locale) })}</small>
      </label>
    </MakeForm>
  )
}

function AddPage({ isOfficial, onAdd }: Pick<AddProps, 'isOfficial' | 'onAdd'>) {
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
    onSave(readingInput(fields, isOfficial && !isGiven(item))).then(onClose, setError)
  }
  return (
    <Dialog title={t.knowledge.editTitle} onClose={onClose}>
      <form className="stack" aria-label={t.knowledge.page} onSubmit={submit}>
        {!isGiven(item) && <p className="hint">{item.url}</p>}
        <KnowledgeFields fields={fields} isOfficial={isOfficial && !isGiven(item)} onChange={setFields} />
        {isOfficial && !isGiven(item) && <p className="hint">{t.knowledge.editHint}</p>}
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
