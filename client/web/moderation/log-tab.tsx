import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { LogEntry } from '#shared/api/moderation-records'
import { fullTimeOf, isolated, shortAddress, timeOf } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import type { Listing } from '../kit/use-loaded.ts'
import { actText } from './act-words.ts'

const icons: Readonly<Record<string, IconName>> = {
  mute: 'mute',
  unmute: 'mute',
  ban: 'block',
  unban: 'check',
  delete: 'bin',
  purge: 'bin',
  pin: 'pin',
  unpin: 'pin',
  warn: 'warn',
  promote: 'star',
  demote: 'star',
  rules: 'book',
}

export function LogTab({ log, state }: { log: Listing<readonly LogEntry[]>; state: RoomState }) {
  const [action, setAction] = useState('')
  const [person, setPerson] = useState('')
  const names = namesIn(state)
  const nameFor = (id: string) => names.get(id) ?? shortAddress(id)
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
          aria-label="Kind of act"
          value={action}
          onChange={(event) => setAction(event.target.value)}
        >
          <option value="">All acts</option>
          {actions.map((name) => (
            <option key={name} value={name}>
              {actText(name)}
            </option>
          ))}
        </select>
        <input
          className="input"
          aria-label="Person"
          placeholder="Person"
          value={person}
          onChange={(event) => setPerson(event.target.value)}
        />
      </div>
      <Listed
        loaded={log}
        empty={
          <Blank icon="shield" title="No acts yet">
            <p>Each act of a moderator is written here, and none is ever changed.</p>
          </Blank>
        }
      >
        {(entries) => (
          <ol className="log" aria-label="Acts of moderators">
            {entries.filter(fits).map((entry) => (
              <LogLine key={entry.id} entry={entry} nameFor={nameFor} />
            ))}
          </ol>
        )}
      </Listed>
    </>
  )
}

function LogLine({ entry, nameFor }: { entry: LogEntry; nameFor: (id: string) => string }) {
  return (
    <li>
      <Icon name={icons[entry.action_type.split(/[_-]/)[0] ?? ''] ?? 'shield'} />
      <span className="grow">
        <strong>{nameFor(entry.moderator_address)}</strong> {actText(entry.action_type)}
        {entry.target_user_address && <strong> {nameFor(entry.target_user_address)}</strong>}
        {entry.reason && <small>{entry.reason}</small>}
      </span>
      <time className="numerals" dateTime={entry.created_at} title={`${fullTimeOf(entry.created_at)} · ${entry.hash}`}>
        {timeOf(entry.created_at)}
      </time>
    </li>
  )
}

/** The log holds addresses; whoever has written here is known by name. */
function namesIn(state: RoomState): ReadonlyMap<string, string> {
  const written = state.messages.map(({ sender }) => sender)
  const acted = state.notices.map(({ actor }) => actor)
  return new Map([...written, ...acted].filter(({ name }) => name).map(({ id, name }) => [id, isolated(name)]))
}
