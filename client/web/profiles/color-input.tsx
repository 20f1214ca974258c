import { colorOf, rgbaOf } from '#shared/kit/css-values'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import type { Common } from './common-input.ts'
import styles from './profiles.module.css'

/** A colour, picked or written. What shines through stays as it was where another colour is picked. */
export function ColorInput(props: { common: Common; title: string; value: string; onChange: (value: string) => void }) {
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
