import { type FormEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { kindOfWidget, type Widget, type WidgetType } from '#shared/api/people/profile-widgets'
import { AppError } from '#shared/errors'
import { useSession } from '../accounts/session.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import { FormFields } from './form-fields.tsx'
import type { OwnPage } from './use-own-page.ts'
import { type Faults, type Fields, faultsOf, fieldsOf } from './widget-fields.ts'
import { titleOfWidget } from './widget-titles.ts'
import { shownOf } from './widget-words.ts'

/** What a widget is set to, how large it is, and whether others see it. It is added, or changed where it is stored already. */
export function WidgetDialog(props: {
  page: OwnPage
  widget_type: WidgetType
  config: Fields
  stored: Widget | null
  onClose: () => void
}) {
  const { page, widget_type: type, stored, onClose } = props
  const { account } = useSession()
  const kind = kindOfWidget(type)
  const form = useRef<HTMLFormElement>(null)
  const [config, setConfig] = useState(props.config)
  const [size, setSize] = useState(stored?.size ?? kind.usual)
  const [is_visible, setVisible] = useState(stored?.is_visible ?? true)
  const [faults, setFaults] = useState<Faults>({})
  const [problem, setProblem] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const fields = fieldsOf(type)

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
    const wrong = faultsOf(type, config)
    if (Object.keys(wrong).length > 0) return refuse(wrong)
    if (!shownOf({ widget_type: type, config: { ...config } }, { now: Date.now(), owner: account }))
      return refuse({}, new Error(t.form.blank))
    setBusy(true)
    const given = { size, is_visible, config: { ...config } }
    try {
      if (stored) await page.configure(stored.id, given)
      else await page.add({ widget_type: type, ...given })
      return onClose()
    } catch (cause) {
      refuse(faultAt(cause), cause)
    }
    setBusy(false)
  }

  return (
    <Dialog
      title={stored ? t.form.title({ title: titleOfWidget(type) }) : titleOfWidget(type)}
      isBroad
      onClose={onClose}
    >
      <form ref={form} className="stack" noValidate onSubmit={(event) => void save(event)}>
        <FormFields fields={fields} values={config} faults={faults} onChange={setConfig} />
        <fieldset className="segments">
          <legend className="label">{t.form.size}</legend>
          {kind.sizes.map((one) => (
            <label key={one}>
              <input type="radio" name="size" checked={size === one} onChange={() => setSize(one)} />
              <span className="segment">{t.sizes[one]}</span>
            </label>
          ))}
        </fieldset>
        <label className="check">
          <input type="checkbox" checked={is_visible} onChange={({ target }) => setVisible(target.checked)} />
          {t.form.visible}
        </label>
        <Problem error={problem} />
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {t.form.cancel}
          </button>
          <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
            {stored ? t.form.save : t.form.add}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** The field that the server has refused, where it is one of this form: `widgets.0.config.url` or `config.url`. */
function faultAt(cause: unknown): Faults {
  const path = cause instanceof AppError ? cause.details?.path : undefined
  const [, field] = /^(?:widgets\.\d+\.)?config\.(.+)$/.exec(typeof path === 'string' ? path : '') ?? []
  return field && cause instanceof Error ? { [field]: cause.message.replace(/^[^:]*: /, '') } : {}
}
