import { useRef, useState } from 'react'
import { bugCategories, bugFilesAtMost, bugTextLength } from '#shared/api/platform/bug-reports'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { useTell } from '../kit/toasts.tsx'
import { supportTexts as t } from '../texts/support.ts'
import { valueText, valueTexts } from '../texts/values.ts'

const showing = 'image/jpeg,image/png,image/gif,image/webp,video/mp4,video/webm,video/quicktime'

/** Reports a problem to the admins. */
export function BugForm() {
  const client = useClient()
  const tell = useTell()
  const { status } = useSession()
  const picker = useRef<HTMLInputElement>(null)
  const [category, setCategory] = useState<(typeof bugCategories)[number]>('Other')
  const [description, setDescription] = useState('')
  const [steps, setSteps] = useState('')
  const [files, setFiles] = useState<readonly File[]>([])

  const send = async () => {
    const mediaUrls: string[] = []
    for (const file of files) mediaUrls.push((await client.uploads.bugReport({ file })).url)
    await client.bugReports.send({ category, description, replicationSteps: steps.trim() || null, mediaUrls })
    setDescription('')
    setSteps('')
    setFiles([])
    tell(t.report.sent)
  }

  return (
    <MakeForm label={t.report.title} action={t.report.send} onMake={send}>
      <label className="field">
        <span>{t.report.category}</span>
        <select
          className="input"
          value={category}
          onChange={({ target }) => setCategory(bugCategories.find((one) => one === target.value) ?? 'Other')}
        >
          {bugCategories.map((one) => (
            <option key={one} value={one}>
              {valueText(valueTexts.bugs, one)}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>{t.report.description}</span>
        <textarea
          dir="auto"
          className="input"
          rows={4}
          required
          maxLength={bugTextLength}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </label>
      <label className="field">
        <span>{t.report.steps}</span>
        <textarea
          dir="auto"
          className="input"
          rows={3}
          maxLength={bugTextLength}
          value={steps}
          onChange={({ target }) => setSteps(target.value)}
        />
      </label>
      {status?.media && (
        <div className="row wrap">
          <input
            ref={picker}
            type="file"
            accept={showing}
            multiple
            hidden
            aria-label={t.report.files}
            onChange={({ target }) => setFiles([...(target.files ?? [])].slice(0, bugFilesAtMost))}
          />
          <button type="button" className="button small" onClick={() => picker.current?.click()}>
            <Icon name="image" /> {t.report.addFiles}
          </button>
          <span className="hint">
            {files.length > 0 ? t.report.filesChosen({ count: files.length }) : t.report.filesHint}
          </span>
        </div>
      )}
    </MakeForm>
  )
}
