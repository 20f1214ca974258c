import { createContext, useContext } from 'react'
import type { LiveRoom, LocalMessage } from '#client/sdk/types'
import type { DmCipher } from '../messages/dm-cipher.ts'
import type { RowAct } from '../moderation/row-acts.ts'
import type { Rights } from './rights.ts'

/** What every part of an open room shares, and what does not change with each message. */
export interface OpenRoom {
  live: LiveRoom
  account: string
  ownName: string
  rights: Rights
  /** Only in direct conversations. */
  cipher: DmCipher | null
  isModerating: boolean
  reply: (message: LocalMessage) => void
  edit: (message: LocalMessage) => void
  /** Asks for any emoji. */
  react: (message: LocalMessage) => void
  /** Puts the text of a refused message back under the cursor. */
  rewrite: (message: LocalMessage, text: string) => void
  /** Does it, after a question where there is one. */
  moderate: (act: RowAct) => void
  jumpTo: (id: string, seq?: number) => void
  /** Asks for everything anew: what one may do here has changed. */
  reopen: () => void
}

export const RoomContext = createContext<OpenRoom | null>(null)

export function useOpenRoom(): OpenRoom {
  const room = useContext(RoomContext)
  if (!room) throw new Error('There is no open room above this component.')
  return room
}
