import { isKnownRoom } from '#server/domains/rooms/room-state/kinds'
import { rolesOfAll } from '#server/domains/rooms/room-state/membership'
import { cardsOf } from '#server/domains/rooms/room-state/rows'
import { visibleRooms } from '#server/domains/rooms/room-state/staff-rooms'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import type { ChatFolder } from '#shared/api/rooms/chat-folders'
import { AppError } from '#shared/errors'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { ChatFolders, PinnedChats, type StoredFolder, type StoredPins } from './model.ts'

export const noFolderError = () => new AppError('NOT_FOUND', { message: 'Folder not found' })

/** The folders of an account, in order. */
export const foldersOf = (account: string): Promise<StoredFolder[]> =>
  ChatFolders.find({ user_address: account }).sort({ sort_order: 1, _id: 1 }).lean<StoredFolder[]>()

/** Loads a folder, only for its owner. */
export async function ownFolder(account: string, _id: string): Promise<StoredFolder> {
  const folder = await ChatFolders.findOne({ _id, user_address: account }).lean<StoredFolder>()
  if (!folder) throw noFolderError()
  return folder
}

/** The keys of an account's pinned rooms, in order. */
export async function pinnedChatsOf(account: string): Promise<readonly string[]> {
  return (await PinnedChats.findOne({ _id: account }).lean<StoredPins>())?.chats ?? []
}

export async function storePinnedChats(account: string, chats: string[]): Promise<void> {
  const write = () => PinnedChats.updateOne({ _id: account }, { $set: { chats } }, { upsert: true })
  await write().catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return write()
  })
}

/** The rooms among these in the account's list: it is a member, and they are not archived. */
export async function listedRooms(node: Node, account: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const known = [...new Set(keys)].filter(isKnownRoom)
  const [roles, cards] = await Promise.all([rolesOfAll([account], known), cardsOf(node, known)])
  const own = new Set(roles.map(({ room }) => room))
  const open = cards.filter(({ key, room }) => own.has(key) && room.is_active)
  return new Set((await visibleRooms(node, account, open)).map(({ key }) => key))
}

/** The rooms of these keys that are listed, in order. */
export const listedRefs = (keys: readonly string[], listed: ReadonlySet<string>): RoomRef[] =>
  keys.filter((key) => listed.has(key)).map(roomOfKey)

export const folderOutput = (folder: StoredFolder, listed: ReadonlySet<string>): ChatFolder => ({
  id: folder._id,
  emoji: folder.emoji,
  label: folder.label,
  sort_order: folder.sort_order,
  chats: listedRefs(folder.chats, listed),
  created_at: folder.created_at,
  updated_at: folder.updated_at,
})
