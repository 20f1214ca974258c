import { type ChangeEvent, type ReactNode, useRef, useState } from 'react'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { mediaTexts as t } from '../texts/media.ts'
import { facePicture, pickable } from './prepare.ts'
import { useObjectUrl } from './use-object-url.ts'

/** Chooses the small picture of a person or a room. It is cut square, and shown before it is stored. */
export function PictureField(props: {
  title: string
  /** The picture as it is now. */
  shown: ReactNode
  onStore: (picture: File) => Promise<unknown>
  /** Where there is a picture to be taken away. */
  onRemove?: (() => Promise<unknown>) | undefined
}) {
  const input = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useState<File | null>(null)
  const [error, setError] = useState<unknown>(null)
  const preview = useObjectUrl(chosen)
  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? []
    event.target.value = ''
    setError(null)
    if (file) facePicture(file).then(setChosen, setError)
  }
  const store = async () => {
    if (!chosen) return
    setError(null)
    await props.onStore(chosen).then(() => setChosen(null), setError)
  }

  return (
    <fieldset className="stack">
      <legend className="label">{props.title}</legend>
      <div className="row wrap">
        {preview ? (
          <span className="avatar large">
            <img src={preview} alt={t.field.chosen} />
          </span>
        ) : (
          props.shown
        )}
        <input
          ref={input}
          type="file"
          accept={pickable}
          hidden
          aria-label={t.field.file({ title: props.title })}
          onChange={choose}
        />
        <button type="button" className="button small" onClick={() => input.current?.click()}>
          <Icon name="image" />
          {t.field.choose}
        </button>
        {chosen && (
          <ActButton className="button small main" onPress={store}>
            {t.field.use}
          </ActButton>
        )}
        {chosen && (
          <button type="button" className="button small plain" onClick={() => setChosen(null)}>
            {t.field.cancel}
          </button>
        )}
        {!chosen && props.onRemove && (
          <ActButton className="button small plain" onPress={props.onRemove}>
            {t.field.remove}
          </ActButton>
        )}
      </div>
      <Problem error={error} />
    </fieldset>
  )
}
