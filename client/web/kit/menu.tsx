import { DirectionProvider } from '@base-ui/react/direction-provider'
import { Menu as Base } from '@base-ui/react/menu'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'
import { direction } from '../texts/language.ts'
import { useBorrowedFocus } from './focus.ts'
import { Icon, type IconName } from './icon.tsx'
import { allArrows } from './keys.ts'

const CloseMenu = createContext(() => {})

interface MenuPlace {
  side?: 'top' | 'bottom' | undefined
  align?: 'start' | 'end' | undefined
}

/** A menu beside its anchor, which holds its button. Arrow keys and letters walk its items; Escape, Tab and a press elsewhere close it. */
export function Menu(
  props: MenuPlace & {
    label: string
    anchor: HTMLElement
    onClose: () => void
    children: ReactNode
  },
) {
  const { anchor, side = 'bottom', align = 'end', onClose } = props
  return (
    <DirectionProvider direction={direction}>
      <Base.Root
        open
        modal={false}
        orientation={allArrows}
        onOpenChange={(_isOpen, details) => {
          if (details.reason !== 'escape-key' && isOnButton(details.event, anchor)) details.cancel()
          else onClose()
        }}
      >
        <Base.Portal className="menu-layer" container={anchor}>
          <Base.Positioner
            className="menu-place"
            anchor={anchor}
            side={side}
            align={align}
            sideOffset={6}
            collisionPadding={8}
          >
            <CloseMenu value={onClose}>
              <Items label={props.label}>{props.children}</Items>
            </CloseMenu>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </DirectionProvider>
  )
}

/** Whether the focus or a press is on the button of an open menu, which closes it by itself. */
function isOnButton(event: Event, anchor: HTMLElement): boolean {
  const button = anchor.querySelector(':scope > [aria-expanded="true"]')
  const place = event instanceof FocusEvent ? event.relatedTarget : event.target
  return place instanceof Node && (button?.contains(place) ?? false)
}

function Items({ label, children }: { label: string; children: ReactNode }) {
  const close = useContext(CloseMenu)
  const menu = useBorrowedFocus(toMenu)
  // An item is known as the focused one only once the list of items is there.
  useEffect(() => {
    const items = menu.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []
    ;[...items].find((item) => item.checkVisibility())?.focus({ preventScroll: true })
  }, [menu])
  return (
    <Base.Popup
      ref={menu}
      className="menu"
      aria-label={label}
      finalFocus={false}
      onKeyDown={({ key }) => {
        if (key === 'Tab') close()
      }}
    >
      {children}
    </Base.Popup>
  )
}

/** It is put into view without being scrolled to. */
const toMenu = (menu: HTMLDivElement) => menu.focus({ preventScroll: true })

/** One thing that a menu offers. Its press closes the menu first. */
export function MenuItem(props: {
  icon?: IconName
  /** The name of a sign that is the whole item. */
  label?: string
  className?: string | undefined
  isGrave?: boolean
  description?: string | undefined
  shortcut?: string | null | undefined
  /** At its end. */
  badge?: ReactNode
  onPress: () => void
  children: ReactNode
}) {
  const { icon, shortcut, isGrave, className = '' } = props
  const close = useContext(CloseMenu)
  return (
    <Base.Item
      render={<button type="button" />}
      nativeButton
      closeOnClick={false}
      className={isGrave ? `grave ${className}` : className}
      aria-label={props.label}
      aria-description={props.description}
      aria-keyshortcuts={shortcut ?? undefined}
      onClick={() => {
        close()
        props.onPress()
      }}
    >
      {icon && <Icon name={icon} />}
      {icon ? <span className="grow">{props.children}</span> : props.children}
      {props.badge}
      {shortcut && <kbd>{shortcut}</kbd>}
    </Base.Item>
  )
}

/** A button that opens and closes a menu. */
export function MenuButton(
  props: MenuPlace & {
    icon: IconName
    title: string
    /** Where the title alone does not say of what. */
    name?: string
    isSmall?: boolean
    description?: string | undefined
    /** On the button, beside its icon. */
    badge?: ReactNode
    /** The name of the menu. */
    label: string
    children: ReactNode
  },
) {
  const { title, label, side, align } = props
  const [isOpen, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const [holder, setHolder] = useState<HTMLDivElement | null>(null)
  return (
    <div ref={setHolder} className="holder">
      <button
        type="button"
        className={props.isSmall ? 'icon-button small' : 'icon-button'}
        aria-label={props.name ?? title}
        aria-description={props.description}
        title={title}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={props.icon} />
        {props.badge}
      </button>
      {isOpen && holder && (
        <Menu label={label} anchor={holder} side={side} align={align} onClose={close}>
          {props.children}
        </Menu>
      )}
    </div>
  )
}
