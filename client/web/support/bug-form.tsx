import { useRef, useState } from 'react'
import { bugCategories, bugFilesAtMost, bugTextLength } from '#shared/api/bug-reports'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { useTell } from '../kit/toasts.tsx'

const showing = 'image/jpeg,image/png,image/gif,image/webp,video/mp4,video/webm,video/quicktime'

/** Tells the admins of a fault of the service. */
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
    tell('Thank you. The admins have your report.')
  }

  return (
    <MakeForm label="Report a problem" action="Send report" onMake={send}>
      <label className="field">
        <span>What is it about?</span>
        <select
          className="input"
          value={category}
          onChange={({ target }) => setCategory(bugCategories.find((one) => one === target.value) ?? 'Other')}
        >
          {bugCategories.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>What went wrong?</span>
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
        <span>How can it be seen again? (optional)</span>
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
            aria-label="Pictures and films"
            onChange={({ target }) => setFiles([...(target.files ?? [])].slice(0, bugFilesAtMost))}
          />
          <button type="button" className="button small" onClick={() => picker.current?.click()}>
            <Icon name="image" /> Add pictures or films
          </button>
          <span className="hint">
            {files.length > 0
              ? `${plural(files.length, 'file')} chosen`
              : 'Whoever has the address of such a file can see it.'}
          </span>
        </div>
      )}
    </MakeForm>
  )
}
