import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { LogEntry } from '#shared/api/moderation/moderation-records'
import { roomKey } from '#shared/kit/room-key'
import { useNames } from '../accounts/names.ts'
import { fullTimeOf, nameOf, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import type { Listing } from '../kit/use-loaded.ts'
import { useDeletions } from '../messages/deletions.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { actText, actWords } from './acts.ts'
import styles from './log-tab.module.css'

export function LogTab({ log, state }: { log: Listing<readonly LogEntry[]>; state: RoomState }) {
  const [action, setAction] = useState('')
  const [person, setPerson] = useState('')
  const known = namesIn(state)
  const ids = log.value?.flatMap((entry) => [entry.moderator_address, entry.target_user_address ?? '']) ?? []
  const named = useNames(ids.filter((id) => id && !known.has(id)))
  const nameFor = (id: string) => known.get(id) ?? named(id)
  const actions = [...new Set(log.value?.map((entry) => entry.action_type))].sort()
  const fits = (entry: LogEntry) => {
    const people = [entry.moderator_address, entry.target_user_address ?? ''].flatMap((id) => [id, nameFor(id)])
    const isPerson = people.some((text) => text.toLowerCase().includes(person.trim().toLowerCase()))
    return (!action || entry.action_type === action) && isPerson
  }

  return (
    <>
      <div className="row">
        <select
          className="input"
          aria-label={t.log.action}
          value={action}
          onChange={(event) => setAction(event.target.value)}
        >
          <option value="">{t.log.allActions}</option>
          {actions.map((name) => (
            <option key={name} value={name}>
              {actText(name)}
            </option>
          ))}
        </select>
        <input
          dir="auto"
          className="input"
          aria-label={t.log.person}
          placeholder={t.log.person}
          value={person}
          onChange={(event) => setPerson(event.target.value)}
        />
      </div>
      <PendingDeletions />
      <Listed
        loaded={log}
        empty={
          <Blank icon="shield" title={t.log.empty}>
            <p>{t.log.emptyHint}</p>
          </Blank>
        }
      >
        {(entries) => <LogList label={t.log.list} entries={entries.filter(fits)} nameFor={nameFor} />}
      </Listed>
    </>
  )
}

/** Acts that can still be undone and are therefore not yet in the log. */
function PendingDeletions() {
  const { pending, undo } = useDeletions()
  const { live } = useOpenRoom()
  const here = pending.filter(({ room, canUndo }) => canUndo && room === roomKey(live.ref))
  if (here.length === 0) return null
  return (
    <ol className={styles.log} aria-label={t.log.pending}>
      {here.map(({ id, name }) => (
        <li key={id}>
          <Icon name="bin" />
          <span className="grow">
            {t.log.pendingDelete({ name, strong: (parts) => <strong>{parts}</strong> })}
            <small>{t.log.pendingHint}</small>
          </span>
          <button type="button" className="button small" onClick={() => undo(id)}>
            {t.done.undo}
          </button>
        </li>
      ))}
    </ol>
  )
}

interface LogListProps {
  label: string
  entries: readonly LogEntry[]
  nameFor: (id: string) => string
}

/** Entries of a moderation log, the newest first. */
export const LogList = ({ label, entries, nameFor }: LogListProps) => (
  <ol className={styles.log} aria-label={label}>
    {entries.map((entry) => (
      <LogLine key={entry.id} entry={entry} nameFor={nameFor} />
    ))}
  </ol>
)

function LogLine({ entry, nameFor }: { entry: LogEntry; nameFor: (id: string) => string }) {
  const { text, icon } = actWords(entry.action_type)
  return (
    <li>
      <Icon name={icon} />
      <span className="grow">
        <strong title={entry.moderator_address}>{nameFor(entry.moderator_address)}</strong> {text}
        {entry.target_user_address && (
          <strong title={entry.target_user_address}> {nameFor(entry.target_user_address)}</strong>
        )}
        {entry.reason && <small dir="auto">{entry.reason}</small>}
      </span>
      <time className="numerals" dateTime={entry.created_at} title={`${fullTimeOf(entry.created_at)} · ${entry.hash}`}>
        {timeOf(entry.created_at)}
      </time>
    </li>
  )
}

/** Names by id, taken from the messages and notices of the room: the log holds ids only. */
function namesIn(state: RoomState): ReadonlyMap<string, string> {
  const written = state.messages.map(({ sender }) => sender)
  const acted = state.notices.map(({ actor }) => actor)
  return new Map([...written, ...acted].filter(({ name }) => name).map(({ id, name }) => [id, nameOf(name, id)]))
}
