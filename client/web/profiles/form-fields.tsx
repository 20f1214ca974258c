import { useId } from 'react'
import { itemsAtMost } from '#shared/api/people/widget-fields'
import { Icon } from '../kit/icon.tsx'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import { FieldInput } from './field-input.tsx'
import styles from './form-fields.module.css'
import { titleOfOption } from './shown.ts'
import type { Ask, Faults, Field, Fields } from './widget-fields.ts'

interface FieldsProps {
  fields: readonly Field[]
  values: Fields
  /** By path, as the form as a whole knows it; `at` is where these fields are in it. */
  faults: Faults
  at?: string
  onChange: (values: Fields) => void
}

/** Fields of a widget. What is empty is left out of it. */
export function FormFields({ fields, values, faults, at = '', onChange }: FieldsProps) {
  const set = (name: string) => (value: unknown) => {
    const { [name]: _, ...others } = values
    onChange(value === undefined || value === '' ? others : { ...others, [name]: value })
  }
  return fields.map((field) => (
    <OneField
      key={field.name}
      field={field}
      value={values[field.name]}
      faults={faults}
      path={`${at}${field.name}`}
      onChange={set(field.name)}
    />
  ))
}

interface OneProps {
  field: Field
  value: unknown
  faults: Faults
  path: string
  onChange: (value: unknown) => void
}

function OneField({ field, value, faults, path, onChange }: OneProps) {
  const { title, ask } = field
  const why = useId()
  const fault = faults[path]
  if (ask.kind === 'switch') {
    const isOn = value === undefined ? ask.isUsual : value === true
    return (
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />
        {title}
      </label>
    )
  }
  if (ask.kind === 'choices') return <Choices title={title} options={ask.options} value={value} onChange={onChange} />
  if (ask.kind === 'list')
    return <ItemsField title={title} ask={ask} value={value} faults={faults} path={path} onChange={onChange} />
  if (ask.kind === 'part') {
    const fields = (value ?? {}) as Fields
    return (
      <fieldset className={`stack ${styles.formGroup}`}>
        <legend className="label">{title}</legend>
        <FormFields
          fields={ask.fields}
          values={fields}
          faults={faults}
          at={`${path}.`}
          onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
        />
      </fieldset>
    )
  }
  return (
    <div className="field">
      <FieldInput field={field} value={value} fault={fault} whyId={why} onChange={onChange} />
      {fault && (
        <small className="grave" id={why}>
          {fault}
        </small>
      )}
    </div>
  )
}

/** Any number of a few. */
function Choices(props: {
  title: string
  options: readonly string[]
  value: unknown
  onChange: (value: unknown) => void
}) {
  const { title, options, value, onChange } = props
  const chosen: readonly unknown[] = Array.isArray(value) ? value : []
  return (
    <fieldset className="row wrap">
      <legend className="label">{title}</legend>
      {options.map((option) => (
        <label key={option} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={({ target }) => {
              const next = target.checked ? [...chosen, option] : chosen.filter((one) => one !== option)
              onChange(next.length === 0 ? undefined : next)
            }}
          />
          {titleOfOption(option)}
        </label>
      ))}
    </fieldset>
  )
}

/** The things that a widget lists, each with its fields. */
function ItemsField(props: {
  title: string
  ask: Extract<Ask, { kind: 'list' }>
  value: unknown
  faults: Faults
  path: string
  onChange: (items: readonly Fields[] | undefined) => void
}) {
  const { title, ask, value, faults, path, onChange } = props
  const items: readonly Fields[] = Array.isArray(value) ? value : []
  const become = (next: readonly Fields[]) => onChange(next.length === 0 ? undefined : next)
  return (
    <fieldset className="stack form-items">
      <legend className="label">{title}</legend>
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: most have no ids, only their place
        <fieldset key={at} className={`stack ${styles.formItem}`}>
          <legend className="row">
            <span className="label grow">{at + 1}</span>
            <button
              type="button"
              className="icon-button small"
              aria-label={t.form.removeOf({ place: at + 1, title })}
              title={t.form.remove}
              onClick={() => become(items.filter((_, place) => place !== at))}
            >
              <Icon name="bin" />
            </button>
          </legend>
          <FormFields
            fields={ask.fields}
            values={item}
            faults={faults}
            at={`${path}.${at}.`}
            onChange={(fields) => become(items.with(at, fields))}
          />
        </fieldset>
      ))}
      {faults[path] && <small className="grave">{faults[path]}</small>}
      <div>
        <button
          type="button"
          className="button small"
          aria-disabled={items.length >= itemsAtMost || undefined}
          onClick={() => {
            if (items.length < itemsAtMost) become([...items, ask.hasId ? { id: crypto.randomUUID() } : {}])
          }}
        >
          <Icon name="plus" />
          {items.length === 0
            ? t.form.addOne
            : items.length < itemsAtMost
              ? t.form.addAnother
              : t.form.most({ count: itemsAtMost })}
        </button>
      </div>
    </fieldset>
  )
}
