import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import {
  chatFolderChanged,
  chatsAtMost,
  chatFolders as contract,
  foldersAtMost,
  lastPlace,
  pinnedChatsChanged,
} from '#shared/api/rooms/chat-folders'
import { AppError } from '#shared/errors'
import { pinnedAtMost } from '#shared/kit/lengths'
import { done, type RoomRef, roomKey } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import {
  folderOutput,
  foldersOf,
  listedRefs,
  listedRooms,
  noFolderError,
  ownFolder,
  pinnedChatsOf,
  storePinnedChats,
} from './folders.ts'
import { ChatFolders, type StoredFolder } from './model.ts'

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
