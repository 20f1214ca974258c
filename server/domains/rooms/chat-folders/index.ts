import { isKnownRoom } from '#server/domains/rooms/room-state/kinds'
import { rolesOfAll, visibleRooms } from '#server/domains/rooms/room-state/membership'
import { cardsOf } from '#server/domains/rooms/room-state/rows'
import { audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { isDuplicate } from '#server/ports/database/port'
import {
  type ChatFolder,
  chatFolderChanged,
  chatsAtMost,
  chatFolders as contract,
  foldersAtMost,
  lastPlace,
  pinnedChatsChanged,
} from '#shared/api/rooms/chat-folders'
import { AppError } from '#shared/errors'
import { pinnedAtMost } from '#shared/kit/lengths'
import { done, type RoomRef, roomKey, roomOfKey } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { ChatFolders, PinnedChats, type StoredFolder, type StoredPins } from './model.ts'

const noFolderError = () => new AppError('NOT_FOUND', { message: 'Folder not found' })

/** The folders of an account, in order. */
const foldersOf = (account: string): Promise<StoredFolder[]> =>
  ChatFolders.find({ user_address: account }).sort({ sort_order: 1, _id: 1 }).lean<StoredFolder[]>()

/** Loads a folder, only for its owner. */
async function ownFolder(account: string, _id: string): Promise<StoredFolder> {
  const folder = await ChatFolders.findOne({ _id, user_address: account }).lean<StoredFolder>()
  if (!folder) throw noFolderError()
  return folder
}

/** The keys of an account's pinned rooms, in order. */
async function pinnedChatsOf(account: string): Promise<readonly string[]> {
  return (await PinnedChats.findOne({ _id: account }).lean<StoredPins>())?.chats ?? []
}

async function storePinnedChats(account: string, chats: string[]): Promise<void> {
  const write = () => PinnedChats.updateOne({ _id: account }, { $set: { chats } }, { upsert: true })
  await write().catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return write()
  })
}

/** The rooms among these in the account's list: it is a member, and they are not archived. */
async function listedRooms(node: Node, account: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const known = [...new Set(keys)].filter(isKnownRoom)
  const [roles, cards] = await Promise.all([rolesOfAll([account], known), cardsOf(node, known)])
  const own = new Set(roles.map(({ room }) => room))
  const open = cards.filter(({ key, room }) => own.has(key) && room.is_active)
  return new Set((await visibleRooms(node, account, open)).map(({ key }) => key))
}

/** The rooms of these keys that are listed, in order. */
const listedRefs = (keys: readonly string[], listed: ReadonlySet<string>): RoomRef[] =>
  keys.filter((key) => listed.has(key)).map(roomOfKey)

const folderOutput = (folder: StoredFolder, listed: ReadonlySet<string>): ChatFolder => ({
  id: folder._id,
  emoji: folder.emoji,
  label: folder.label,
  sort_order: folder.sort_order,
  chats: listedRefs(folder.chats, listed),
  created_at: folder.created_at,
  updated_at: folder.updated_at,
})

export const chatFolders = defineDomain(contract, {
  async list(_input, context) {
    const { account } = signedIn(context)
    const [folders, pinned] = await Promise.all([foldersOf(account), pinnedChatsOf(account)])
    const keys = [...new Set([...folders.flatMap(({ chats }) => chats), ...pinned])]
    await context.charge(keys.length)
    const listed = await listedRooms(context.node, account, keys)
    return { folders: folders.map((folder) => folderOutput(folder, listed)), pinned: listedRefs(pinned, listed) }
  },

  async create({ label, emoji = null, sort_order }, context) {
    const { account } = signedIn(context)
    const last = (await foldersOf(account)).at(-1)?.sort_order ?? -1
    const now = timeOf(context)
    const made = {
      _id: context.creationId,
      user_address: account,
      label,
      emoji,
      sort_order: sort_order ?? Math.min(last + 1, lastPlace),
      chats: [],
      created_at: now,
      updated_at: now,
    }
    const folder = await insertWithinLimit<StoredFolder>(ChatFolders, made, {
      others: { user_address: account },
      most: foldersAtMost,
    })
    if (!folder) throw new AppError('CONFLICT', { message: `You have ${foldersAtMost} folders. Remove one first.` })
    return announceFolder(context, account, folder)
  },

  async update({ id, ...given }, context) {
    const { account } = signedIn(context)
    const { chats } = await ownFolder(account, id)
    await context.charge(chats.length)
    return changeFolder(context, account, id, withoutUndefined(given))
  },

  async remove({ id: folder_id }, context) {
    const { account } = signedIn(context)
    const { deletedCount } = await ChatFolders.deleteOne({ _id: folder_id, user_address: account })
    if (deletedCount === 0) throw noFolderError()
    context.emit(chatFolderChanged, audiences.account(account), { folder_id, folder: null })
    return done
  },

  async setChats({ id, chats }, context) {
    const { account } = signedIn(context)
    const before = await ownFolder(account, id)
    const keys = await listedKeys(context, account, chats)
    return changeFolder(context, account, id, {
      chats: await withLeftRooms(context, account, keys, before.chats, chatsAtMost),
    })
  },

  async setPinned({ chats }, context) {
    const { account } = signedIn(context)
    const keys = await listedKeys(context, account, chats)
    await storePinnedChats(
      account,
      await withLeftRooms(context, account, keys, await pinnedChatsOf(account), pinnedAtMost),
    )
    const pinned = listedRefs(keys, new Set(keys))
    context.emit(pinnedChatsChanged, audiences.account(account), { pinned })
    return { pinned }
  },
})

const timeOf = ({ node }: Context): string => new Date(node.now()).toISOString()

/** The distinct keys of these rooms. ROOM_NOT_FOUND if the caller is not in one, whether or not it exists. */
async function listedKeys({ node, charge }: Context, account: string, chats: readonly RoomRef[]): Promise<string[]> {
  const keys = [...new Set(chats.map(roomKey))]
  await charge(keys.length)
  const listed = await listedRooms(node, account, keys)
  if (!keys.every((key) => listed.has(key))) throw new AppError('ROOM_NOT_FOUND')
  return keys
}

/**
 * Adds the previous rooms that the caller has left. They stay hidden while there is space, in case the caller returns.
 */
async function withLeftRooms(
  { node }: Context,
  account: string,
  keys: readonly string[],
  before: readonly string[],
  most: number,
): Promise<string[]> {
  const listed = await listedRooms(node, account, before)
  return [...keys, ...before.filter((key) => !listed.has(key) && !keys.includes(key))].slice(0, most)
}

type FolderChange = Partial<Pick<StoredFolder, 'label' | 'emoji' | 'sort_order' | 'chats'>>

async function changeFolder(context: Context, account: string, _id: string, changed: FolderChange) {
  const folder = await ChatFolders.findOneAndUpdate(
    { _id, user_address: account },
    { $set: { ...changed, updated_at: timeOf(context) } },
    { returnDocument: 'after' },
  ).lean<StoredFolder>()
  if (!folder) throw noFolderError()
  return announceFolder(context, account, folder)
}

/** Sends a folder to all devices of the account. */
async function announceFolder(context: Context, account: string, stored: StoredFolder) {
  const folder = folderOutput(stored, await listedRooms(context.node, account, stored.chats))
  context.emit(chatFolderChanged, audiences.account(account), { folder_id: folder.id, folder })
  return { folder }
}
