import { useState } from 'react'
import type { WidgetType, widgetCategories } from '#shared/api/people/profile-widgets'
import { Dialog } from '../kit/dialog.tsx'
import { useFocused } from '../kit/focus.ts'
import { Blank } from '../kit/notice.tsx'
import styles from './add-widget.module.css'
import { categoryTitles, typesIn, widgetTitles } from './widget-titles.ts'

const categories = Object.keys(categoryTitles) as (typeof widgetCategories)[number][]

/** Chooses what kind of widget is added. */
export function AddWidget({ onChoose, onClose }: { onChoose: (type: WidgetType) => void; onClose: () => void }) {
  const field = useFocused<HTMLInputElement>()
  const [wanted, setWanted] = useState('')
  const fits = (type: WidgetType) => widgetTitles[type].join(' ').toLowerCase().includes(wanted.trim().toLowerCase())
  const found = categories.map((category) => [category, typesIn(category).filter(fits)] as const)
  const isNone = found.every(([, types]) => types.length === 0)
  return (
    <Dialog title="Add a widget" isBroad onClose={onClose}>
      <div className="stack">
        <input
          dir="auto"
          ref={field}
          className="input"
          type="search"
          aria-label="Find a widget"
          placeholder="Find a widget"
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
        {isNone && <Blank icon="search" title="No such widget" />}
        {found.map(
          ([category, types]) =>
            types.length > 0 && (
              <section key={category} className="stack">
                <h3 className="label">{categoryTitles[category]}</h3>
                <ul className={styles.widgetTypes}>
                  {types.map((type) => {
                    const [sign, title, hint] = widgetTitles[type]
                    return (
                      <li key={type}>
                        <button type="button" onClick={() => onChoose(type)}>
                          <span aria-hidden="true">{sign}</span>
                          <span className="grow">
                            <strong>{title}</strong>
                            <small>{hint}</small>
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
