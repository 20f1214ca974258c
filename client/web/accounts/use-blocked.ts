import { createContext, useContext, useMemo } from 'react'
import { useClient } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useRoomList } from '../rooms/use-rooms.ts'

export const fromBlocked = 'From somebody you have blocked'

/** Whom this account has blocked. */
export function useLoadedBlocks() {
  const client = useClient()
  return useLoaded('blocks', async () => (await client.social.blocks()).blockedUsers)
}
type Blocks = ReturnType<typeof useLoadedBlocks>

export const BlocksContext = createContext<Blocks | null>(null)

/** `changed` is to be called after each block and unblock: what is unread changes with them. */
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

/** Whether it is known who is blocked; before, nothing that somebody said can be shown. */
export function useKnowsBlocked(): boolean {
  const { value, error } = useBlocks()
  return value !== null || error !== null
}

/** Whom this account has blocked, by id: what they say stands collapsed. */
export function useBlocked(): ReadonlySet<string> {
  const { value } = useBlocks()
  return useMemo(() => new Set(value?.map(({ blocked_address }) => blocked_address)), [value])
}
