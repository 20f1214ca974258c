import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import type { GivenTheme } from '#shared/api/people/profile-theme'
import type { GivenWidget, Widget } from '#shared/api/people/profile-widgets'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MenuButton, MenuItem } from '../kit/menu.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import profilesStyles from './profiles.module.css'
import type { Shown } from './shown.ts'
import styles from './tile.module.css'
import { isBoard, WidgetBoard } from './widget-board.tsx'
import { WidgetCard } from './widget-card.tsx'
import { titleOfWidget } from './widget-fields.ts'

/** One place earlier or later. */
export type Step = -1 | 1

const steps: Readonly<Record<string, Step>> = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }

interface TileProps {
  page: OwnPage
  widget: Widget
  /** Null where nothing of it is to be seen. */
  shown: Shown | null
  order: number
  isHeld: boolean
  isFirst: boolean
  isLast: boolean
  onStep: (by: Step) => void
  onHold: () => void
  onDrag: (event: PointerEvent) => void
  onDrop: () => void
  onLetGo: () => void
  onEdit: () => void
}

/** A widget of the account, with what can be done to it. */
export function Tile(props: TileProps) {
  const { page, widget, shown, order, isHeld, onEdit } = props
  const attempt = useAttempt()
  const [isRemoving, setRemoving] = useState(false)
  const title = titleOfWidget(widget.widget_type)
  const name = shown?.title || shown?.prose?.text || title

  return (
    <li
      className={`size-${widget.size} ${isHeld ? profilesStyles.held : ''} ${widget.is_visible ? '' : profilesStyles.isHidden}`}
      data-widget={widget.id}
      style={{ order }}
    >
      <div className={styles.tileTools}>
        <Handle {...props} title={title} />
        <button
          type="button"
          className="icon-button small"
          aria-label={t.tile.editOf({ title })}
          title={t.tile.edit}
          onClick={onEdit}
        >
          <Icon name="pencil" />
        </button>
        <MenuButton icon="more" title={t.tile.more} name={t.tile.moreOf({ title })} isSmall label={title} align="start">
          {!props.isFirst && (
            <MenuItem icon="back" onPress={() => props.onStep(-1)}>
              {t.tile.earlier}
            </MenuItem>
          )}
          {!props.isLast && (
            <MenuItem icon="down" onPress={() => props.onStep(1)}>
              {t.tile.later}
            </MenuItem>
          )}
          <MenuItem
            icon={widget.is_visible ? 'block' : 'check'}
            onPress={() => attempt(() => page.configure(widget.id, { is_visible: !widget.is_visible }))}
          >
            {widget.is_visible ? t.tile.hide : t.tile.show}
          </MenuItem>
          <hr />
          <MenuItem icon="bin" isGrave onPress={() => setRemoving(true)}>
            {t.tile.remove}
          </MenuItem>
        </MenuButton>
        {!widget.is_visible && <span className="chip">{t.tile.hidden}</span>}
      </div>
      <div className={profilesStyles.profileWidget}>
        {shown ? <WidgetCard shown={shown} /> : <p className={profilesStyles.widgetLine}>{t.tile.blank({ title })}</p>}
        {shown && isBoard(widget) && <WidgetBoard owner={widget.user_address} widget={widget} />}
      </div>
      {isRemoving && <Removal name={name} onClose={() => setRemoving(false)} onRemove={() => page.remove(widget.id)} />}
    </li>
  )
}

/** Moves its tile: by dragging, or by the arrow keys. */
function Handle(props: TileProps & { title: string }) {
  const { title, isHeld, onStep, onHold, onDrag, onDrop, onLetGo } = props
  const press = (event: KeyboardEvent) => {
    const by = steps[event.key]
    if (!by) return
    event.preventDefault()
    onStep(by)
  }
  return (
    <button
      type="button"
      className={`icon-button small ${profilesStyles.tileHandle}`}
      aria-label={t.tile.move({ title })}
      title={t.tile.moveHint}
      aria-pressed={isHeld}
      onKeyDown={press}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        onHold()
      }}
      onPointerMove={onDrag}
      onPointerUp={onDrop}
      onPointerCancel={onLetGo}
    >
      <Icon name="grip" />
    </button>
  )
}

function Removal(props: { name: string; onClose: () => void; onRemove: () => Promise<void> }) {
  const attempt = useAttempt()
  return (
    <Dialog title={t.removal.title} onClose={props.onClose}>
      <div className="stack">
        <p>{t.removal.text({ name: isolated(props.name) })}</p>
        <div className="row end">
          <button type="button" className="button" onClick={props.onClose}>
            {t.removal.keep}
          </button>
          <button
            type="button"
            className="button grave"
            onClick={() => {
              props.onClose()
              attempt(props.onRemove)
            }}
          >
            {t.tile.remove}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

type Changes = Partial<Pick<Widget, 'size' | 'config' | 'is_visible'>>

/** The profile of the account. Each change is shown at once and saved after those before it; one that fails rejects, and what is stored is shown again. */
export function useOwnPage() {
  const client = useClient()
  const loaded = useLoaded('own', () => client.profiles.widgets({}))
  const { change: changeLocally, reload } = loaded
  const turn = useRef<Promise<unknown>>(Promise.resolve())

  const inTurn = <Answer,>(save: () => Promise<Answer>): Promise<Answer> => {
    const saved = turn.current.then(save)
    turn.current = saved.catch(reload)
    return saved
  }
  const showWidgets = (next: (widgets: readonly Widget[]) => readonly Widget[]) =>
    changeLocally((page) => ({ ...page, widgets: [...next(page.widgets)] }))

  return {
    ...loaded,
    add: (given: GivenWidget) =>
      inTurn(async () => {
        const { widget } = await client.profiles.arrange(given)
        if (widget) showWidgets((widgets) => [...widgets, widget])
        return widget
      }),
    /** Rejects with what is wrong, and changes nothing before it is saved. */
    configure: (id: string, changes: Changes) =>
      inTurn(async () => {
        await client.profiles.rearrange({ widgets: [{ id, ...changes }] })
        showWidgets((widgets) => widgets.map((widget) => (widget.id === id ? { ...widget, ...changes } : widget)))
      }),
    /** Puts all widgets in the order of these ids. */
    order(ids: readonly string[]) {
      showWidgets((widgets) => ids.flatMap((id) => widgets.find((widget) => widget.id === id) ?? []))
      return inTurn(() => client.profiles.rearrange({ widgets: ids.map((id, position) => ({ id, position })) }))
    },
    remove: (id: string) =>
      inTurn(async () => {
        await client.profiles.removeWidget({ id })
        showWidgets((widgets) => widgets.filter((widget) => widget.id !== id))
      }),
    dress: (given: GivenTheme) =>
      inTurn(async () => {
        const { theme } = await client.profiles.dress(given)
        changeLocally((page) => ({ ...page, theme }))
      }),
  }
}
export type OwnPage = ReturnType<typeof useOwnPage>
