import { type FormEvent, type PointerEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { ProfileTheme } from '#shared/api/people/profile-theme'
import {
  kindOfWidget,
  type Widget,
  type WidgetType,
  type widgetCategories,
  widgetsAtMost,
} from '#shared/api/people/profile-widgets'
import { AppError } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { AgentHead } from '../agents/agent-head.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { useFocused } from '../kit/focus.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { goTo } from '../rooms/route.ts'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import addWidgetStyles from './add-widget.module.css'
import { FormFields } from './form-fields.tsx'
import styles from './profiles.module.css'
import { themeOf } from './theme-fields.ts'
import { ThemeForm } from './theme-form.tsx'
import { type OwnPage, type Step, Tile, useOwnPage } from './tile.tsx'
import { Badge, Dressed, useSeen } from './widget-board.tsx'
import {
  begun,
  type Faults,
  type Fields,
  faultsOf,
  fieldsOf,
  titleOfWidget,
  typesIn,
  widgetSigns,
} from './widget-fields.ts'
import { shownOf } from './widget-words.ts'

const categories = Object.keys(t.categories) as (typeof widgetCategories)[number][]

/** Chooses what kind of widget is added. */
function AddWidget({ onChoose, onClose }: { onChoose: (type: WidgetType) => void; onClose: () => void }) {
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
                <ul className={addWidgetStyles.widgetTypes}>
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

/** Pixels at the upper and lower edge at which the page scrolls along. */
const edge = 72
const scrolled = 14

/**
 * The widgets of the account in their order. One is moved by dragging its handle, by the arrow keys on it, or by its menu. While it is
 * dragged only the place in which each is drawn changes, so that the handle stays under the pointer.
 */
function Tiles(props: { page: OwnPage; widgets: readonly Widget[]; owner: string; onEdit: (widget: Widget) => void }) {
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

type Edited = Pick<Widget, 'widget_type' | 'config'> & { stored: Widget | null }

/** The profile of the account, to be arranged and dressed. */
export function OwnProfile() {
  const { account } = useSession()
  const page = useOwnPage()
  const [draft, setDraft] = useState<ProfileTheme | null>(null)
  const [isChoosing, setChoosing] = useState(false)
  const [edited, setEdited] = useState<Edited | null>(null)
  const { value, error, reload } = page
  const saved = themeOf(value?.theme ?? null)
  const worn = draft ?? (value?.theme ? saved : null)
  const isFull = (value?.widgets.length ?? 0) >= widgetsAtMost

  const begin = (widget_type: WidgetType) => {
    setChoosing(false)
    setEdited({ widget_type, config: begun(widget_type, account), stored: null })
  }
  const addButton = (
    <button
      type="button"
      className="button small main"
      aria-disabled={isFull || !value || undefined}
      title={isFull ? t.full({ count: widgetsAtMost }) : undefined}
      onClick={() => {
        if (!isFull && value) setChoosing(true)
      }}
    >
      <Icon name="plus" />
      {t.add}
    </button>
  )

  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: t.back, go: () => goTo(null) }}>
        <div className="row">
          <button
            type="button"
            className="button small"
            aria-expanded={draft !== null}
            onClick={() => setDraft(draft ? null : saved)}
          >
            <Icon name="sun" />
            {t.look}
          </button>
          {addButton}
        </div>
      </AgentHead>
      <div className={`${styles.profilePage} ${draft ? 'dressing' : ''}`}>
        {draft && (
          <ThemeForm
            theme={draft}
            onChange={setDraft}
            onSave={async () => {
              await page.dress(draft)
              setDraft(null)
            }}
            onClose={() => setDraft(null)}
          />
        )}
        <div className="stack">
          <Problem error={error} onRetry={reload} />
          {!value && !error && <Skeleton rows={6} label={t.loading} />}
          {value && (
            <>
              <p className="row wrap hint">
                <span className="grow">{t.visible}</span>
                {isFull && <span>{t.full({ count: widgetsAtMost })}</span>}
                <a href={linkTo('profile', { address: account })}>{t.view}</a>
              </p>
              <Dressed theme={worn}>
                {value.widgets.length === 0 ? (
                  <div className={styles.profileWidget}>
                    <Blank icon="grid" title={t.empty}>
                      <p>{t.emptyHint}</p>
                      {addButton}
                    </Blank>
                  </div>
                ) : (
                  <Tiles
                    page={page}
                    widgets={value.widgets}
                    owner={account}
                    onEdit={(stored) => setEdited({ ...stored, stored })}
                  />
                )}
                <Badge theme={worn} />
              </Dressed>
            </>
          )}
        </div>
      </div>
      {isChoosing && <AddWidget onChoose={begin} onClose={() => setChoosing(false)} />}
      {edited && <WidgetDialog page={page} {...edited} onClose={() => setEdited(null)} />}
    </main>
  )
}

/** What a widget is set to, how large it is, and whether others see it. It is added, or changed where it is stored already. */
function WidgetDialog(props: {
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
