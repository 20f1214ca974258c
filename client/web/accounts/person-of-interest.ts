import { createContext, useContext } from 'react'
import type { LiveRoom } from '#client/sdk/types'

export interface PersonOfInterest {
  id: string
  name: string
  role: string | null
  /** The room from which the card was opened. */
  live: LiveRoom | null
  /** The message from which the card was opened. */
  messageId?: string
  messageText?: string
  /** The card opens with the report of this message. */
  isReported?: boolean
}

export const PersonContext = createContext<(person: PersonOfInterest) => void>(() => {})

/** Opens the card of a person. */
export const useOpenPerson = () => useContext(PersonContext)
