import { type FormEvent, useState } from 'react'
import type { ApiToolInput } from '#shared/api/agents/agent-tools'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import styles from './agents.module.css'

export type ToolKind = 'server' | 'api'

/** What a form of a tool holds; no key, or no headers, means that these stay as they are. The last three are of an API. */
export interface ToolFields {
  name: string
  url: string
  apiKey: string
  description: string
  instructions: string
  /** `Name: value`, one in each line. */
  headers: string
  /** '' is that of its kind. */
  method: ApiToolInput['method'] | ''
  allowChanges: boolean
  schema: string
}

const noTool: ToolFields = {
  ...{ name: '', url: '', apiKey: '', description: '', instructions: '', headers: '' },
  ...{ method: '', allowChanges: false, schema: '' },
}
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const changing: readonly string[] = ['PUT', 'PATCH', 'DELETE']
const longestSchema = 20_000
const mostTools = 10
const kinds = { server: t.kinds.serverLong, api: t.kinds.api } as const

const addressWords = { INVALID_PARAMETER: t.faults.toolAddress }

export function AddTool({
  counts,
  onAdd,
}: {
  counts: Record<ToolKind, number>
  onAdd: (kind: ToolKind, given: ToolFields) => Promise<void>
}) {
  const [kind, setKind] = useState<ToolKind>('server')
  const [given, setGiven] = useState(noTool)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const isFull = counts[kind] >= mostTools
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || isFull) return
    setBusy(true)
    try {
      await onAdd(kind, { ...given, url: given.url.trim() })
      setGiven(noTool)
      setError(null)
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }
  return (
    <form className="stack" aria-label={t.tools.add} onSubmit={(event) => void submit(event)}>
      <fieldset className="segments">
        <legend className="label">{t.tools.kind}</legend>
        {(['server', 'api'] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="tool-kind" checked={kind === one} onChange={() => setKind(one)} />
            <span className="segment">{kinds[one]}</span>
          </label>
        ))}
      </fieldset>
      {isFull ? (
        <p className="hint">{t.tools.full({ most: mostTools })}</p>
      ) : (
        <>
          <label className="field">
            <span>{t.tools.name}</span>
            <input
              dir="auto"
              className="input"
              maxLength={100}
              required
              value={given.name}
              onChange={({ target }) => setGiven({ ...given, name: target.value })}
            />
          </label>
          <label className="field">
            <span>{t.tools.address}</span>
            <input
              dir="auto"
              className="input"
              inputMode="url"
              placeholder="https://"
              maxLength={2_048}
              required
              value={given.url}
              onChange={({ target }) => setGiven({ ...given, url: target.value })}
            />
          </label>
          <KeyField title={t.tools.key} given={given} onChange={setGiven} />
          <details className={styles.moreFields}>
            <summary>{t.tools.more}</summary>
            <div className="stack">
              <SaidFields given={given} onChange={setGiven} />
              {kind === 'api' && <ApiFields given={given} onChange={setGiven} isNew />}
              <HeadersField given={given} onChange={setGiven} />
            </div>
          </details>
          <Problem error={error} words={addressWords} />
          <div className="row end">
            <button type="submit" className="button main small" aria-disabled={isBusy || undefined}>
              {isBusy ? t.tools.checking : t.tools.submit}
            </button>
          </div>
        </>
      )}
    </form>
  )
}

export function EditTool(props: {
  tool: ToolFields & { kind: ToolKind; hasApiKey: boolean; headerNames: readonly string[] }
  onSave: (fields: ToolFields) => Promise<void>
  onClose: () => void
}) {
  const { tool, onSave, onClose } = props
  const [fields, setFields] = useState<ToolFields>(tool)
  const [error, setError] = useState<unknown>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSave(fields).then(onClose, setError)
  }
  return (
    <Dialog title={t.tools.editTitle({ name: tool.name })} onClose={onClose}>
      <form className="stack" aria-label={t.tools.title} onSubmit={submit}>
        <p className="hint">{tool.url}</p>
        <SaidFields given={fields} onChange={setFields} />
        <KeyField title={tool.hasApiKey ? t.tools.otherKey : t.tools.key} given={fields} onChange={setFields} />
        {tool.kind === 'api' && <ApiFields given={fields} onChange={setFields} />}
        <HeadersField given={fields} onChange={setFields} names={tool.headerNames} />
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

interface FieldProps {
  given: ToolFields
  onChange: (given: ToolFields) => void
}

function KeyField({ title, given, onChange }: FieldProps & { title: string }) {
  return (
    <label className="field">
      <span>{title}</span>
      <input
        className="input"
        type="password"
        autoComplete="off"
        maxLength={4_096}
        value={given.apiKey}
        onChange={({ target }) => onChange({ ...given, apiKey: target.value })}
      />
      <small>{t.tools.keyHint}</small>
    </label>
  )
}

function SaidFields({ given, onChange }: FieldProps) {
  return (
    <>
      <label className="field">
        <span>{t.tools.purpose}</span>
        <textarea
          dir="auto"
          className="input"
          rows={2}
          maxLength={500}
          value={given.description}
          onChange={({ target }) => onChange({ ...given, description: target.value })}
        />
        <small>{t.tools.purposeHint}</small>
      </label>
      <label className="field">
        <span>{t.tools.usage}</span>
        <textarea
          dir="auto"
          className="input"
          rows={3}
          maxLength={2_000}
          value={given.instructions}
          onChange={({ target }) => onChange({ ...given, instructions: target.value })}
        />
        <small>{t.tools.usageHint}</small>
      </label>
    </>
  )
}

/** How an API is asked. */
function ApiFields({ given, onChange, isNew }: FieldProps & { isNew?: boolean }) {
  return (
    <>
      <label className="field">
        <span>{t.tools.method}</span>
        <select
          className="input"
          value={given.method}
          onChange={({ target }) => onChange({ ...given, method: target.value as ToolFields['method'] })}
        >
          {isNew && <option value="">{t.tools.usualMethod}</option>}
          {methods.map((method) => (
            <option key={method}>{method}</option>
          ))}
        </select>
      </label>
      {changing.includes(given.method) && (
        <>
          <label className="check">
            <input
              type="checkbox"
              checked={given.allowChanges}
              onChange={({ target }) => onChange({ ...given, allowChanges: target.checked })}
            />
            <span>{t.tools.changes}</span>
          </label>
          <p className="hint">{t.tools.changesHint}</p>
        </>
      )}
      <label className="field">
        <span>{t.tools.schema}</span>
        <textarea
          dir="ltr"
          className="input"
          rows={3}
          maxLength={longestSchema}
          value={given.schema}
          onChange={({ target }) => onChange({ ...given, schema: target.value })}
        />
        <small>{isNew ? t.tools.newSchemaHint : t.tools.schemaHint}</small>
      </label>
    </>
  )
}

function HeadersField({ given, onChange, names = [] }: FieldProps & { names?: readonly string[] }) {
  return (
    <label className="field">
      <span>{names.length > 0 ? t.tools.otherHeaders : t.tools.headers}</span>
      <textarea
        dir="ltr"
        className="input"
        rows={2}
        placeholder={t.tools.headersExample}
        autoComplete="off"
        spellCheck={false}
        value={given.headers}
        onChange={({ target }) => onChange({ ...given, headers: target.value })}
      />
      <small>{names.length > 0 ? t.tools.otherHeadersHint({ names: names.join(', ') }) : t.tools.headersHint}</small>
    </label>
  )
}
