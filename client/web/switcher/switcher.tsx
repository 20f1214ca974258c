import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Avatar } from '../kit/avatar.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { isComposing } from '../kit/keys.ts'
import { useStoredPicture } from '../media/stored.ts'
import { Badge } from '../rooms/badge.tsx'
import { RoomMark } from '../rooms/room-mark.tsx'
import roomsStyles from '../rooms/rooms.module.css'
import { switcherTexts as t } from '../texts/sidebar.ts'
import { type Entry, useEntries } from './entries.ts'
import styles from './switcher.module.css'

const longestQuery = 100

/** Finds rooms, people, pages, settings and actions by what is typed, and opens the chosen one. */
export function Switcher({ onClose, onLeave }: { onClose: () => void; onLeave: () => void }) {
  const [query, setQuery] = useState('')
  const { groups, status } = useEntries(query)
  const entries = groups.flatMap((group) => group.entries)
  // By its key: people who are found later do not move the choice.
  const [chosenKey, setChosenKey] = useState<string | null>(null)
  const chosen = Math.max(
    entries.findIndex(({ key }) => key === chosenKey),
    0,
  )
  const id = useId()
  const optionId = (key: string) => `${id}-${key}`
  const list = useRef<HTMLDivElement>(null)
  const isByKey = useRef(false)
  const shownKey = entries[chosen]?.key
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again when another entry is chosen
  useEffect(() => {
    if (isByKey.current) list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [shownKey])

  const ask = (next: string) => {
    setQuery(next)
    setChosenKey(null)
    list.current?.scrollTo({ top: 0 })
  }
  const open = ({ run }: Entry) => {
    if (typeof run === 'string') return ask(run)
    onClose()
    onLeave()
    run()
  }
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const entry = entries[chosen]
    if (step && entry) {
      isByKey.current = true
      setChosenKey(entries[(chosen + step + entries.length) % entries.length]?.key ?? null)
    } else if (event.key === 'Enter' && entry) open(entry)
    else return
    event.preventDefault()
  }

  return (
    <Dialog title={t.title} isBroad onClose={onClose}>
      <div className={styles.switcher}>
        <input
          className="input"
          dir="auto"
          type="text"
          role="combobox"
          aria-label={t.field}
          aria-expanded={entries.length > 0}
          aria-controls={entries.length > 0 ? id : undefined}
          aria-activedescendant={shownKey && optionId(shownKey)}
          aria-autocomplete="list"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="go"
          placeholder={t.example}
          maxLength={longestQuery}
          value={query}
          onChange={({ target }) => ask(target.value)}
          // A press outside closes the dialog, also after something was typed here.
          onInput={(event) => event.stopPropagation()}
          onKeyDown={press}
        />
        <p className={status ? 'hint' : 'unseen'} role="status">
          {status ?? t.count({ count: entries.length })}
        </p>
        {entries.length > 0 && (
          <div ref={list} className={styles.list} id={id} role="listbox" aria-label={t.results}>
            {groups.map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a part of a list of options
              <div key={group.title} role="group" aria-label={group.title ?? t.results}>
                {group.title && (
                  <p className="section-title" aria-hidden="true">
                    {group.title}
                  </p>
                )}
                {group.entries.map((entry) => (
                  <Option
                    key={entry.key}
                    id={optionId(entry.key)}
                    entry={entry}
                    isChosen={entry.key === shownKey}
                    onPoint={() => {
                      isByKey.current = false
                      setChosenKey(entry.key)
                    }}
                    onOpen={() => open(entry)}
                  />
                ))}
              </div>
            ))}
          </div>
        )}
        <p className={styles.hints}>
          <kbd>↑</kbd>
          <kbd>↓</kbd> {t.hints.choose}
          <kbd>↵</kbd> {t.hints.go}
          <kbd>@</kbd> {t.hints.people}
          <kbd>#</kbd> {t.hints.rooms}
        </p>
      </div>
    </Dialog>
  )
}

function Option(props: { id: string; entry: Entry; isChosen: boolean; onPoint: () => void; onOpen: () => void }) {
  const { title, detail, face } = props.entry
  const room = 'room' in face ? face.room : null
  const isUnread = room !== null && room.unread > 0
  return (
    <button
      type="button"
      role="option"
      id={props.id}
      tabIndex={-1}
      aria-selected={props.isChosen}
      className={`${roomsStyles.roomRow} ${styles.option} ${isUnread && !room.is_muted ? 'unread' : ''}`}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onPointerMove={props.isChosen ? undefined : props.onPoint}
      onClick={props.onOpen}
    >
      <Face face={face} title={title} />
      <span className="grow">
        <span className={roomsStyles.roomName}>{title}</span>
        <small className={roomsStyles.roomLast}>{detail}</small>
      </span>
      {isUnread && <Badge unread={room.unread} mentions={room.mentions} />}
    </button>
  )
}

function Face({ face, title }: { face: Entry['face']; title: string }) {
  const picture = useStoredPicture('account' in face ? face.picture : null)
  if ('room' in face) return <RoomMark room={face.room} />
  if ('account' in face) return <Avatar id={face.account} name={title} picture={picture} size="small" />
  return (
    <span className={roomsStyles.roomMark}>
      <Icon name={face.icon} />
    </span>
  )
}
