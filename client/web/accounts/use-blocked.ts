import { createContext, useContext, useMemo } from 'react'
import { useClient } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { messageTexts } from '../texts/messages.ts'

export const fromBlocked = messageTexts.fromBlocked

/** The people this account has blocked. */
export function useLoadedBlocks() {
  const client = useClient()
  return useLoaded('blocks', async () => (await client.social.blocks()).blockedUsers)
}
type Blocks = ReturnType<typeof useLoadedBlocks>

export const BlocksContext = createContext<Blocks | null>(null)

/** Call `changed` after each block and unblock: the unread counts change with them. */
export function useBlocks(): Blocks & { changed: () => void } {
  const blocks = useContext(BlocksContext)
  const rooms = useRoomList()
  if (!blocks) throw new Error('Nobody is signed in above this component.')
  const changed = () => {
    blocks.reload()
    rooms.reload()
  }
  return { ...blocks, changed }
}

/** True once the list of blocked people was loaded, or failed to load; no message is shown before. */
export function useKnowsBlocked(): boolean {
  const { value, error } = useBlocks()
  return value !== null || error !== null
}

/** The ids of the people this account has blocked; their messages are shown collapsed. */
export function useBlocked(): ReadonlySet<string> {
  const { value } = useBlocks()
  return useMemo(() => new Set(value?.map(({ blocked_address }) => blocked_address)), [value])
}
