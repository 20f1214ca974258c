import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { hasAtMost } from '#shared/kit/cut'
import { longestFolderLabel, pinnedAtMost } from '#shared/kit/lengths'
import {
  clearable,
  Done,
  Id,
  maybe,
  nameLine,
  OneEmoji,
  onceByKey,
  RoomRef,
  repeatable,
  Time,
} from '#shared/kit/primitives'
import { RoomKey } from './room.ts'

/** Folders of one account. */
export const foldersAtMost = 20
/** Chats in one folder. */
export const chatsAtMost = 200
/** The last place in the order of folders. */
export const lastPlace = 10_000
/** A character as people see it may be a letter with its marks, or several emoji that are joined. */
const codePointsOfOne = 8

const Label = nameLine(1, codePointsOfOne * longestFolderLabel, 'label is required')
  .refine((label) => hasAtMost(label, longestFolderLabel), {
    error: `Too long: at most ${longestFolderLabel} characters`,
  })
  .meta({ description: `At most ${longestFolderLabel} characters as people see them.` })
const Place = z.number().int().min(0).max(lastPlace)

/** Rooms that an account has put together for its own eyes. */
export const ChatFolder = z.object({
  id: z.string(),
  /** One emoji; null for none. */
  emoji: z.string().nullable(),
  label: z.string(),
  /** The lowest comes first; of equal ones, the older. */
  sort_order: z.number().int(),
  /** In the given order, without archived rooms and those that the account has left. */
  chats: z.array(RoomKey),
  created_at: Time,
  updated_at: Time,
})
export type ChatFolder = z.infer<typeof ChatFolder>

const Pinned = z.array(RoomKey)
const folder = z.object({ folder: ChatFolder })

/** An account's arrangement of its rooms, for its own eyes. */
export const chatFolders = {
  list: operation({
    summary:
      'The chat folders of the caller in their order, and the chats that are pinned, in theirs. A room that the caller has left, or that is archived, is left out; who joins it again finds it where it was. Every 50 of these rooms cost as much as a call, and all of them no more than 25.',
    http: 'GET /api/chat-folders',
    socket: '/notifications chat-folder:list',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    input: z.object({}),
    output: z.object({ folders: z.array(ChatFolder), pinned: Pinned }),
  }),
  create: operation({
    summary: `Make a folder, which is empty; after all others where no \`sort_order\` is given. An account has ${foldersAtMost}.`,
    http: 'POST /api/chat-folders',
    socket: '/notifications chat-folder:create',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ label: Label, emoji: maybe(OneEmoji), sort_order: maybe(Place), ...repeatable }),
    output: folder,
  }),
  update: operation({
    summary:
      'Change the label, the emoji or the place of a folder; what is left out stays, and an emoji that is null or empty is taken away.',
    http: 'PATCH /api/chat-folders/:id',
    socket: '/notifications chat-folder:update',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    input: z.object({
      id: Id,
      label: maybe(Label),
      emoji: clearable(OneEmoji).optional(),
      sort_order: maybe(Place),
    }),
    output: folder,
    errors: ['NOT_FOUND'],
  }),
  remove: operation({
    summary: 'Remove a folder. The rooms in it stay as they are.',
    http: 'DELETE /api/chat-folders/:id',
    socket: '/notifications chat-folder:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  setChats: operation({
    summary:
      'Put these rooms into a folder, in the place of those that were in it; the caller must be in each, by its id as lists of rooms have it. A room may be in several folders. Every 50 of them cost as much as a call.',
    http: 'PUT /api/chat-folders/:id/chats',
    socket: '/notifications chat-folder:chats',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    input: z.object({ id: Id, chats: z.array(RoomRef).max(chatsAtMost) }),
    output: folder,
    errors: ['NOT_FOUND', 'ROOM_NOT_FOUND'],
  }),
  setPinned: operation({
    summary:
      'Pin these rooms, in this order, in the place of those that were pinned; the caller must be in each, by its id as lists of rooms have it.',
    http: 'PUT /api/pinned-chats',
    socket: '/notifications pinned-chats:write',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    input: z.object({ chats: z.array(RoomRef).max(pinnedAtMost) }),
    output: z.object({ pinned: Pinned }),
    errors: ['ROOM_NOT_FOUND'],
  }),
}

export const chatFolderChanged = event('/notifications chat-folder:changed', {
  summary: 'You have made or changed a chat folder, on this device or another; `folder` is null where it was removed.',
  audience: 'account',
  payload: z.object({ folder_id: z.string(), folder: ChatFolder.nullable() }),
})
export const pinnedChatsChanged = event('/notifications pinned-chats:changed', {
  summary: 'You have pinned or unpinned chats, on this device or another; these are pinned now.',
  audience: 'account',
  payload: z.object({ pinned: Pinned }),
})
export const chatFolderEvents = { chatFolderChanged, pinnedChatsChanged }
