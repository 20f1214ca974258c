import type { ReactNode } from 'react'
import { type Rooms, RoomsContext } from '../rooms/use-rooms.ts'
import { FoldersContext, useLoadedFolders } from './use-folders.ts'

/** Gives what is within it the rooms of the account, and how it has arranged them. */
export function ArrangedRooms({ rooms, children }: { rooms: Rooms; children: ReactNode }) {
  const folders = useLoadedFolders(rooms.value?.length ?? 0)
  return (
    <RoomsContext value={rooms}>
      <FoldersContext value={folders}>{children}</FoldersContext>
    </RoomsContext>
  )
}
