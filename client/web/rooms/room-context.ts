import { createContext, useContext } from 'react'
import type { LiveRoom, LocalMessage } from '#client/sdk/types'
import type { SealedBy } from '#shared/kit/room-kinds'
import type { RowAct } from '../moderation/person-acts.ts'
import type { Rights } from './rights.ts'

/** What all components of an open room share; nothing in it changes with each message. */
export interface OpenRoom {
  live: LiveRoom
  account: string
  ownName: string
  rights: Rights
  /** What messages are sealed by, so that nothing but this page reads them. */
  sealed: SealedBy | null
  isSealed: boolean
  isModerating: boolean
  reply: (message: LocalMessage) => void
  edit: (message: LocalMessage) => void
  /** Opens the emoji picker. */
  react: (message: LocalMessage) => void
  /** Puts the text of a refused message back under the cursor. */
  rewrite: (message: LocalMessage, text: string) => void
  /** Runs an act, after it has asked for its reason if it is about a person. */
  moderate: (act: RowAct) => void
  jumpTo: (id: string, seq?: number) => void
  /** Reloads the room, as the account's rights have changed. */
  reopen: () => void
}

export const RoomContext = createContext<OpenRoom | null>(null)

export function useOpenRoom(): OpenRoom {
  const room = useContext(RoomContext)
  if (!room) throw new Error('There is no open room above this component.')
  return room
}
