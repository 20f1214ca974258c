import { type ChangeEvent, useId, useRef, useState } from 'react'
import { colorOf, rgbaOf } from '#shared/kit/css-values'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { pickable, prepared } from '../media/prepare.ts'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import styles from './profiles.module.css'
import { titleOfOption } from './shown.ts'
import type { Ask, Field } from './widget-fields.ts'

const mostBytes = 5 * 1_024 * 1_024

/** A picture: stored here and shown, or an address elsewhere, which is shown as a link. */
function PictureInput(props: { common: Common; title: string; value: string; onChange: (url: string) => void }) {
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

interface InputProps {
  field: Field
  value: unknown
  fault: string | undefined
  /** The element that says what is wrong, where something is. */
  whyId: string
  onChange: (value: unknown) => void
}

/** One value of a widget, with its title. */
export function FieldInput({ field: { title, ask }, value, fault, whyId, onChange }: InputProps) {
  const id = useId()
  const common: Common = {
    id,
    className: 'input',
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault === undefined ? undefined : whyId,
  }
  return (
    <>
      <label className="label" htmlFor={id}>
        {title}
      </label>
      <Input common={common} title={title} ask={ask} value={value} onChange={onChange} />
    </>
  )
}

interface ControlProps<Asked extends Ask = Ask> {
  common: Common
  ask: Asked
  value: unknown
  onChange: (value: unknown) => void
}
type Asking<Kind extends Ask['kind']> = Extract<Ask, { kind: Kind }>

function Input({ title, ...control }: ControlProps & { title: string }) {
  const { common, ask, value, onChange } = control
  const text = value === undefined ? '' : `${value}`
  const onWritten = ({ target }: { target: { value: string } }) => onChange(target.value)
  switch (ask.kind) {
    case 'prose':
      return <textarea dir="auto" {...common} rows={2} value={text} onChange={onWritten} />
    case 'number':
      return <NumberInput {...control} ask={ask} />
    case 'lines':
      return <LinesInput {...control} ask={ask} />
    case 'choice':
      return (
        <Options
          common={common}
          text={text}
          options={ask.options}
          isNeeded={ask.isNeeded ?? false}
          onWritten={onWritten}
        />
      )
    case 'zone':
      return <Options common={common} text={text} options={zonesWith(text)} isNeeded={false} onWritten={onWritten} />
    case 'moment':
      return <MomentInput common={common} text={text} onChange={onChange} />
    case 'color':
      return <ColorInput common={common} title={title} value={text} onChange={onChange} />
    case 'picture':
      return <PictureInput common={common} title={title} value={text} onChange={onChange} />
    case 'address':
      return <input dir="auto" {...common} inputMode="url" placeholder="https://" value={text} onChange={onWritten} />
    default:
      return <input dir="auto" {...common} value={text} onChange={onWritten} />
  }
}

function Options(props: {
  common: Common
  text: string
  options: readonly string[]
  isNeeded: boolean
  onWritten: (event: { target: { value: string } }) => void
}) {
  return (
    <select {...props.common} value={props.text} onChange={props.onWritten}>
      {!props.isNeeded && <option value="">{t.form.notChosen}</option>}
      {props.options.map((option) => (
        <option key={option} value={option}>
          {option.includes('/') ? option : titleOfOption(option)}
        </option>
      ))}
    </select>
  )
}

/** Those that this browser knows, and the one that is chosen. */
const zonesWith = (chosen: string): readonly string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...(chosen ? [chosen] : [])])].sort()

function NumberInput({ common, ask, value, onChange }: ControlProps<Asking<'number'>>) {
  return (
    <input
      {...common}
      type="number"
      step={ask.isWhole ? 1 : 'any'}
      min={ask.least}
      max={ask.most}
      value={typeof value === 'number' ? value : ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
    />
  )
}

/** What is written stays as it is while the lines of it are kept. */
function LinesInput({ common, ask, value, onChange }: ControlProps<Asking<'lines'>>) {
  const [written, setWritten] = useState(() => (Array.isArray(value) ? value.join('\n') : ''))
  return (
    <textarea
      dir="auto"
      {...common}
      rows={4}
      value={written}
      onChange={({ target }) => {
        setWritten(target.value)
        const lines = target.value.split('\n').map((one) => one.trim())
        const filled = lines.filter(Boolean)
        onChange(filled.length === 0 ? undefined : ask.isNumber ? filled.map(numberOrText) : filled)
      }}
    />
  )
}

const numberOrText = (line: string): number | string => (Number.isNaN(Number(line)) ? line : Number(line))

/** By the clock of this browser. */
function MomentInput(props: { common: Common; text: string; onChange: (value: unknown) => void }) {
  const moment = new Date(props.text)
  const local = Number.isNaN(moment.getTime())
    ? ''
    : new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  return (
    <input
      {...props.common}
      type="datetime-local"
      value={local}
      onChange={({ target }) => props.onChange(target.value === '' ? undefined : new Date(target.value).toISOString())}
    />
  )
}

/** A colour, picked or written. What shines through stays as it was where another colour is picked. */
function ColorInput(props: { common: Common; title: string; value: string; onChange: (value: string) => void }) {
  const { common, title, value, onChange } = props
  const rgba = rgbaOf(value)
  const [red = 128, green = 128, blue = 128, alpha = 1] = rgba ?? []
  const pick = (picked: string) => {
    const [r = 0, g = 0, b = 0] = rgbaOf(picked) ?? []
    onChange(colorOf(`rgba(${r}, ${g}, ${b}, ${alpha.toFixed(3)})`) ?? picked)
  }
  return (
    <div className="row">
      <input
        type="color"
        className={styles.colorPick}
        aria-label={t.form.pick({ title })}
        value={colorOf(`rgb(${red}, ${green}, ${blue})`) ?? '#808080'}
        onChange={({ target }) => pick(target.value)}
      />
      <input
        dir="auto"
        {...common}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  )
}

/** What an input has, whatever it asks for. */
interface Common {
  id: string
  className: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}
