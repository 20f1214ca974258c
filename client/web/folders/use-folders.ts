import { createContext, useContext, useEffect, useRef } from 'react'
import { table } from '#client/sdk/table'
import type { ChatFolder } from '#shared/api/rooms/chat-folders'
import { pinnedAtMost } from '#shared/kit/lengths'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useClient, useConnectionState } from '../connection/client.ts'
import { type Loaded, useLoaded } from '../kit/use-loaded.ts'
import { folderTexts } from '../texts/sidebar.ts'

interface Folders {
  /** In their order. */
  folders: readonly ChatFolder[]
  pinned: readonly RoomRef[]
}

const byPlace = (one: ChatFolder, other: ChatFolder): number =>
  one.sort_order - other.sort_order || (one.id < other.id ? -1 : 1)

/** With a folder as it is now; null where it was removed. */
export const withFolder =
  (id: string, folder: ChatFolder | null) =>
  (before: Folders): Folders => ({
    ...before,
    folders: [...before.folders.filter((one) => one.id !== id), ...(folder ? [folder] : [])].toSorted(byPlace),
  })

export const isAmong = (chats: readonly RoomRef[], room: RoomRef): boolean =>
  chats.some((chat) => roomKey(chat) === roomKey(room))

export const without = (chats: readonly RoomRef[], room: RoomRef): RoomRef[] =>
  chats.filter((chat) => roomKey(chat) !== roomKey(room))

/** How the account has arranged its rooms, of which there are so many, as that changes on any of its devices. */
export function useLoadedFolders(count: number): Loaded<Folders> {
  const client = useClient()
  const isOnline = useConnectionState() === 'online'
  const loaded = useLoaded<Folders>('folders', () => client.chatFolders.list({}))
  const { value, change, reload } = loaded
  const hasSome = value !== null && value.folders.length + value.pinned.length > 0
  const before = useRef({ isOnline, count })
  // Events of the meantime are not sent again. A room that is joined again is in its folders again.
  useEffect(() => {
    const isMore = hasSome && before.current.count > 0 && count > before.current.count
    if ((isOnline && !before.current.isOnline) || isMore) reload()
    before.current = { isOnline, count }
  }, [isOnline, count, hasSome, reload])
  useEffect(() => {
    const { chatFolderChanged, pinnedChatsChanged } = table.events
    const unhear = [
      client.on(chatFolderChanged, ({ folder_id, folder }) => change(withFolder(folder_id, folder))),
      client.on(pinnedChatsChanged, ({ pinned }) => change((all) => ({ ...all, pinned }))),
    ]
    return () => {
      for (const stop of unhear) stop()
    }
  }, [client, change])
  return loaded
}

export const FoldersContext = createContext<Loaded<Folders> | null>(null)

export function useFolders(): Loaded<Folders> {
  const loaded = useContext(FoldersContext)
  if (!loaded) throw new Error('Nobody is signed in above this component.')
  return loaded
}

/** Shows a room before all others, after those that are pinned already, or no longer. */
export function usePinning(): (room: RoomRef, isPinned: boolean) => Promise<void> {
  const client = useClient()
  const { change } = useFolders()
  return async (room, isPinned) => {
    // What was pinned elsewhere, and what has been left since, is known to the server alone.
    const others = without((await client.chatFolders.list({})).pinned, room)
    if (isPinned && others.length >= pinnedAtMost) throw new Error(folderTexts.pinnedAtMost({ count: pinnedAtMost }))
    const { pinned } = await client.chatFolders.setPinned({ chats: isPinned ? [...others, room] : others })
    change((all) => ({ ...all, pinned }))
  }
}
