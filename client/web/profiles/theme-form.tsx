import { type FormEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type ProfileTheme, themePresets } from '#shared/api/people/profile-theme'
import { AppError } from '#shared/errors'
import { Problem } from '../kit/notice.tsx'
import messagesStyles from '../messages/messages.module.css'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import { FormFields } from './form-fields.tsx'
import profilesStyles from './profiles.module.css'
import { faultsOfTheme, fieldsIn, fieldsOfTheme, isReadable, themeIn } from './theme-fields.ts'
import styles from './theme-form.module.css'
import { Dressed } from './widget-board.tsx'
import type { Faults, Fields } from './widget-fields.ts'

const presets = Object.entries(themePresets) as [keyof typeof themePresets, ProfileTheme][]

/** How a profile is dressed. What is chosen is seen beside it at once, and saved by a press. */
export function ThemeForm(props: {
  theme: ProfileTheme
  onChange: (theme: ProfileTheme) => void
  onSave: () => Promise<void>
  onClose: () => void
}) {
  const { theme, onChange, onSave, onClose } = props
  const [fields, setFields] = useState(() => fieldsIn(theme))
  const form = useRef<HTMLFormElement>(null)
  const [faults, setFaults] = useState<Faults>({})
  const [problem, setProblem] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const wear = (next: ProfileTheme) => {
    setFaults({})
    setFields(fieldsIn(next))
    onChange(next)
  }
  const change = (next: Fields) => {
    const made = themeIn(next, fields)
    if (made.background_type !== theme.background_type) return wear(made)
    setFields({ ...next, background_value: made.background_value })
    onChange(made)
  }
  const refuse = (why: Faults, cause: unknown = null) => {
    flushSync(() => {
      setFaults(why)
      setProblem(cause)
    })
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    const wrong = faultsOfTheme(theme)
    if (Object.keys(wrong).length > 0) return refuse(wrong)
    setBusy(true)
    try {
      return await onSave()
    } catch (cause) {
      refuse(
        cause instanceof AppError && cause.details?.path ? { [`${cause.details.path}`]: cause.message } : {},
        cause,
      )
    }
    setBusy(false)
  }

  return (
    <form
      ref={form}
      className={`stack ${styles.themeForm}`}
      aria-label={t.look}
      noValidate
      onSubmit={(event) => void save(event)}
    >
      <div className={styles.themeSample}>
        <Dressed theme={theme}>
          <div className={profilesStyles.profileWidget}>
            <p className={`${profilesStyles.widgetProse} ${messagesStyles.quote}`}>{t.theme.sample}</p>
          </div>
        </Dressed>
      </div>
      <fieldset className={profilesStyles.themePresets}>
        <legend className="label">{t.theme.presets}</legend>
        {presets.map(([name, preset]) => (
          <button
            key={name}
            type="button"
            aria-pressed={isSame(preset, theme)}
            onClick={() =>
              wear({ ...preset, background_effect: theme.background_effect, font_family: theme.font_family })
            }
          >
            <Dressed theme={{ ...preset, background_effect: 'none' }}>
              <span className={profilesStyles.profileWidget}>{t.presets[name]}</span>
            </Dressed>
          </button>
        ))}
      </fieldset>
      <FormFields fields={fieldsOfTheme(theme)} values={fields} faults={faults} onChange={change} />
      {!isReadable(theme) && (
        <p className="hint" role="status">
          {t.theme.unreadable}
        </p>
      )}
      <Problem error={problem} />
      <div className="row end">
        <button type="button" className="button" onClick={onClose}>
          {t.form.cancel}
        </button>
        <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
          {t.theme.save}
        </button>
      </div>
    </form>
  )
}

const isSame = (one: ProfileTheme, other: ProfileTheme): boolean =>
  one.background_value === other.background_value && one.accent_color === other.accent_color
