import { createContext, useContext } from 'react'
import type { LiveRoom } from '#client/sdk/types'

export interface PersonOfInterest {
  id: string
  name: string
  role: string | null
  /** The room in which the person was met. */
  live: LiveRoom | null
  /** The message that led here. */
  messageId?: string
  messageText?: string
}

export const PersonContext = createContext<(person: PersonOfInterest) => void>(() => {})

/** Opens the card of a person. */
export const useOpenPerson = () => useContext(PersonContext)
