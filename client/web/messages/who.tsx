import { type PointerEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { isSameAccount } from '#shared/kit/accounts'
import { Avatar } from '../kit/avatar.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { nameOf } from '../kit/format.ts'
import { Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { locale } from '../texts/language.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './who.module.css'

interface Somebody {
  id: string
  name: string
}

/** People who said the same: those who reacted with one emoji, or voted for one option. */
export interface Group {
  title: string
  count: number
  people: readonly Somebody[]
}

/** So many people are named on hovering; the others are counted. */
const mostNamed = 8
const hoverMilliseconds = 250
const heldMilliseconds = 450

/** `You, Ann and 3 others`; the account itself is first. */
export function namesOf({ count, people }: Pick<Group, 'count' | 'people'>, account: string): string {
  const names = ownFirst(people, account)
    .slice(0, mostNamed)
    .map(({ id, name }) => (isSameAccount(id, account) ? t.people.you : nameOf(name, id)))
  const others = count - names.length
  const all = others > 0 && names.length > 0 ? [...names, t.people.others({ count: others })] : names
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(all)
}

const ownFirst = (people: readonly Somebody[], account: string): readonly Somebody[] =>
  people.toSorted((one, other) => Number(isSameAccount(other.id, account)) - Number(isSameAccount(one.id, account)))

/**
 * What a button needs so that the people behind it are named: a tip while the mouse or the keyboard's focus is on it, and `onHold` after a
 * long press.
 */
export function usePointed(onHold: () => void) {
  const [isPointed, setPointed] = useState(false)
  const tip = useId()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const wasHeld = useRef(false)
  const soon = (act: () => void, milliseconds: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(act, milliseconds)
  }
  const end = () => {
    clearTimeout(timer.current)
    setPointed(false)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const handlers = {
    'aria-describedby': isPointed ? tip : undefined,
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') soon(() => setPointed(true), hoverMilliseconds)
    },
    onPointerLeave: end,
    onPointerDown: ({ pointerType }: PointerEvent) => {
      wasHeld.current = false
      if (pointerType === 'mouse') return
      soon(() => {
        wasHeld.current = true
        onHold()
      }, heldMilliseconds)
    },
    onPointerUp: () => clearTimeout(timer.current),
    onPointerCancel: end,
    onContextMenu: (event: { preventDefault(): void }) => {
      if (wasHeld.current) event.preventDefault()
    },
    onFocus: ({ target }: { target: Element }) => {
      if (target.matches(':focus-visible')) setPointed(true)
    },
    onBlur: end,
  }
  /** Whether a press that ends now was a long one, and means no more than that. */
  const tookAsHold = () => wasHeld.current
  return { isPointed, tip, handlers, tookAsHold }
}

/** The names, above the button that they belong to; nothing until they are loaded. */
export function NamesTip(props: { id: string; load: () => Promise<string> }) {
  const { value } = useLoaded<string>(props.id, props.load)
  const tip = useRef<HTMLSpanElement>(null)
  const [isUnder, setUnder] = useState(false)
  useLayoutEffect(() => {
    const frame = tip.current?.closest('.timeline')?.getBoundingClientRect()
    if (frame && value && (tip.current?.getBoundingClientRect().top ?? 0) < frame.top) setUnder(true)
  }, [value])
  return (
    <span
      ref={tip}
      id={props.id}
      role="tooltip"
      className={isUnder ? `${styles.namesTip} under` : styles.namesTip}
      hidden={!value}
    >
      {value}
    </span>
  )
}

/** All who reacted or voted, by what they said. */
export function WhoDialog(props: { title: string; load: () => Promise<readonly Group[]>; onClose: () => void }) {
  const groups = useLoaded(props.title, props.load)
  const { account } = useOpenRoom()
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Listed loaded={groups} empty={<p className="hint">{t.people.nobody}</p>}>
        {(found) => (
          <div className="stack wide">
            {found.map(({ title, count, people }) => (
              <section key={title} className={styles.whoGroup} aria-label={title}>
                <h3 className="row">
                  <span className="grow">{title}</span>
                  <span className="hint numerals">{count.toLocaleString(locale)}</span>
                </h3>
                <ul>
                  {ownFirst(people, account).map(({ id, name }) => (
                    <li key={id} className="row" title={id}>
                      <Avatar id={id} name={nameOf(name, id)} size="small" />
                      <span>
                        {nameOf(name, id)}
                        {isSameAccount(id, account) && <small className="hint"> {t.people.youAfter}</small>}
                      </span>
                    </li>
                  ))}
                </ul>
                {count > people.length && (
                  <p className="hint">{t.people.andOthers({ count: count - people.length })}</p>
                )}
              </section>
            ))}
          </div>
        )}
      </Listed>
    </Dialog>
  )
}
