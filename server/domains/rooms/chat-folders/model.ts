import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** A folder of rooms, with its name. */
export interface StoredFolder {
  _id: string
  user_address: string
  /** Its slot among the account's folders, which limits their number. */
  place?: number
  label: string
  emoji: string | null
  sort_order: number
  /** Keys of rooms, including rooms that the account has left. */
  chats: string[]
  created_at: string
  updated_at: string
}

export interface StoredPins {
  /** The account. */
  _id: string
  /** Keys of rooms, including rooms that the account has left. */
  chats: string[]
}

const chats = { type: [String], required: true }

export const ChatFolders = defineModel<StoredFolder>(
  'ChatFolders',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'chatFolders' },
  new Schema<StoredFolder>(
    {
      _id: required,
      user_address: required,
      place: { type: Number },
      label: required,
      emoji: optional,
      sort_order: { type: Number, required: true },
      chats,
      created_at: required,
      updated_at: required,
    },
    { collection: 'chat_folders', versionKey: false },
  )
    .index({ user_address: 1, sort_order: 1 })
    .index({ user_address: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } }),
)

export const PinnedChats = defineModel<StoredPins>(
  'PinnedChats',
  { shares: [{ owner: '_id', becomes: 'erase' }], archive: 'chatFolders' },
  new Schema<StoredPins>({ _id: required, chats }, { collection: 'pinned_chats', versionKey: false }),
)
