import { type ChangeEvent, useRef, useState } from 'react'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { pickable, prepared } from '../media/prepare.ts'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import type { Common } from './common-input.ts'

const mostBytes = 5 * 1_024 * 1_024

/** A picture: stored here and shown, or an address elsewhere, which is shown as a link. */
export function PictureInput(props: { common: Common; title: string; value: string; onChange: (url: string) => void }) {
  const client = useClient()
  const { status } = useSession()
  const { common, title, value, onChange } = props
  const input = useRef<HTMLInputElement>(null)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const store = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? []
    target.value = ''
    if (!file || isBusy) return
    setBusy(true)
    setError(null)
    try {
      const made = await prepared(file, mostBytes)
      const { url } = await client.uploads.picture({ file: new File([made], 'picture', { type: made.type }) })
      onChange(url)
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }
  return (
    <>
      <div className="row">
        <input
          dir="auto"
          {...common}
          inputMode="url"
          placeholder="https://"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
        {status?.media && (
          <>
            <input
              ref={input}
              type="file"
              accept={pickable}
              hidden
              aria-label={t.form.file({ title })}
              onChange={store}
            />
            <button
              type="button"
              className="button small"
              aria-disabled={isBusy || undefined}
              onClick={() => input.current?.click()}
            >
              <Icon name="image" />
              {isBusy ? t.form.uploading : t.form.choose}
            </button>
          </>
        )}
      </div>
      <small>{t.form.elsewhere}</small>
      <Problem error={error} />
    </>
  )
}
