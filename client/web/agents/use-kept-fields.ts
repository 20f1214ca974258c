import { useState } from 'react'
import { keepText, readText } from '../messages/drafts.ts'
import { type AgentFields, isSame } from './agent-fields.ts'

/** What a form of an agent holds: as it is stored, with what was changed in this browser and is not saved yet. */
export function useKeptFields(place: string, stored: AgentFields) {
  const [fields, setFields] = useState<AgentFields>(() => ({ ...stored, ...changesIn(place) }))
  const change = (next: AgentFields) => {
    setFields(next)
    keepText(place, isSame(next, stored) ? null : JSON.stringify(changesOf(next, stored)))
  }
  /** Shows these instead, with nothing left to be saved. */
  const forget = (saved: AgentFields = stored) => {
    setFields(saved)
    keepText(place, null)
  }
  return [fields, change, forget] as const
}

const changesOf = (fields: AgentFields, stored: AgentFields): Partial<AgentFields> =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => stored[name as keyof AgentFields] !== value))

const changesIn = (place: string): Partial<AgentFields> => JSON.parse(readText(place) ?? '{}') as Partial<AgentFields>
