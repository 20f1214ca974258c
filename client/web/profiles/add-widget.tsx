import { useState } from 'react'
import type { WidgetType, widgetCategories } from '#shared/api/people/profile-widgets'
import { Dialog } from '../kit/dialog.tsx'
import { useFocused } from '../kit/focus.ts'
import { Blank } from '../kit/notice.tsx'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import styles from './add-widget.module.css'
import { typesIn, widgetSigns } from './widget-titles.ts'

const categories = Object.keys(t.categories) as (typeof widgetCategories)[number][]

/** Chooses what kind of widget is added. */
export function AddWidget({ onChoose, onClose }: { onChoose: (type: WidgetType) => void; onClose: () => void }) {
  const field = useFocused<HTMLInputElement>()
  const [wanted, setWanted] = useState('')
  const fits = (type: WidgetType) =>
    `${t.types[type]} ${t.hints[type]}`.toLowerCase().includes(wanted.trim().toLowerCase())
  const found = categories.map((category) => [category, typesIn(category).filter(fits)] as const)
  const isNone = found.every(([, types]) => types.length === 0)
  return (
    <Dialog title={t.add} isBroad onClose={onClose}>
      <div className="stack">
        <input
          dir="auto"
          ref={field}
          className="input"
          type="search"
          aria-label={t.find}
          placeholder={t.find}
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
        {isNone && <Blank icon="search" title={t.notFound} />}
        {found.map(
          ([category, types]) =>
            types.length > 0 && (
              <section key={category} className="stack">
                <h3 className="label">{t.categories[category]}</h3>
                <ul className={styles.widgetTypes}>
                  {types.map((type) => {
                    return (
                      <li key={type}>
                        <button type="button" onClick={() => onChoose(type)}>
                          <span aria-hidden="true">{widgetSigns[type]}</span>
                          <span className="grow">
                            <strong>{t.types[type]}</strong>
                            <small>{t.hints[type]}</small>
                          </span>
                        </button>
                      </li>
                    )
                  })}
                </ul>
              </section>
            ),
        )}
      </div>
    </Dialog>
  )
}
