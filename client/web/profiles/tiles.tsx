import { type PointerEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Widget } from '#shared/api/people/profile-widgets'
import { useAttempt } from '../kit/toasts.tsx'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import { useSeen } from './profile-view.tsx'
import styles from './profiles.module.css'
import { type Step, Tile } from './tile.tsx'
import type { OwnPage } from './use-own-page.ts'
import { shownOf } from './widget-words.ts'

/** Pixels at the upper and lower edge at which the page scrolls along. */
const edge = 72
const scrolled = 14

/**
 * The widgets of the account in their order. One is moved by dragging its handle, by the arrow keys on it, or by its menu. While it is
 * dragged only the place in which each is drawn changes, so that the handle stays under the pointer.
 */
export function Tiles(props: {
  page: OwnPage
  widgets: readonly Widget[]
  owner: string
  onEdit: (widget: Widget) => void
}) {
  const { page, widgets, owner, onEdit } = props
  const seen = useSeen(owner)
  const attempt = useAttempt()
  const list = useRef<HTMLUListElement>(null)
  const [held, setHeld] = useState<{ id: string; ids: readonly string[] } | null>(null)
  const [told, setTold] = useState('')
  const ids = widgets.map(({ id }) => id)
  const drawn = held?.ids ?? ids

  const tell = (id: string, order: readonly string[]) =>
    setTold(t.tile.moved({ place: order.indexOf(id) + 1, count: order.length }))
  const step = (id: string, by: Step) => {
    const to = ids.indexOf(id) + by
    if (to < 0 || to >= ids.length) return
    const order = moved(ids, id, to)
    flushSync(() => void attempt(() => page.order(order)))
    tell(id, order)
    list.current?.querySelector<HTMLElement>(`[data-widget="${id}"] .${styles.tileHandle}`)?.focus()
  }
  const drag = ({ clientX, clientY }: PointerEvent) => {
    if (!held) return
    scrollAlong(list.current, clientY)
    const over = document
      .elementsFromPoint(clientX, clientY)
      .flatMap((element) => element.closest<HTMLElement>('[data-widget]')?.dataset.widget ?? [])[0]
    if (over === undefined || over === held.id) return
    setHeld({ id: held.id, ids: moved(held.ids, held.id, held.ids.indexOf(over)) })
  }
  const drop = () => {
    if (!held) return
    const isMoved = held.ids.join() !== ids.join()
    if (isMoved) {
      attempt(() => page.order(held.ids))
      tell(held.id, held.ids)
    }
    setHeld(null)
  }

  return (
    <>
      <ul ref={list} className={styles.profileWidgets} aria-label={t.tile.list}>
        {widgets.map((widget, at) => (
          <Tile
            key={widget.id}
            page={page}
            widget={widget}
            shown={shownOf(widget, seen)}
            order={drawn.indexOf(widget.id)}
            isHeld={held?.id === widget.id}
            isFirst={at === 0}
            isLast={at === widgets.length - 1}
            onStep={(by) => step(widget.id, by)}
            onHold={() => setHeld({ id: widget.id, ids })}
            onDrag={drag}
            onDrop={drop}
            onLetGo={() => setHeld(null)}
            onEdit={() => onEdit(widget)}
          />
        ))}
      </ul>
      <p className="unseen" role="status">
        {told}
      </p>
    </>
  )
}

/** These ids with one at another place. */
function moved(ids: readonly string[], id: string, to: number): string[] {
  const others = ids.filter((one) => one !== id)
  return [...others.slice(0, to), id, ...others.slice(to)]
}

function scrollAlong(list: HTMLElement | null, y: number): void {
  const scroller = list?.closest(`.${styles.profilePage}`)
  if (!scroller) return
  const { top, bottom } = scroller.getBoundingClientRect()
  if (y < top + edge) scroller.scrollBy(0, -scrolled)
  if (y > bottom - edge) scroller.scrollBy(0, scrolled)
}
