import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'

/** That somebody has starred a message. It says where the message is, and nothing of what it says: what is deleted is gone here as well. */
export interface Star {
  /** The account and the message, with a space between. */
  _id: string
  /** In the order in which they were made. */
  star_id: string
  user_address: string
  message_id: string
  /** The key of the room, and its kind. */
  room: string
  room_type: string
  notes: string | null
  created_at: string
}

export const Stars = defineModel<Star>(
  'Stars',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'stars' },
  new Schema<Star>(
    {
      _id: required,
      star_id: required,
      user_address: required,
      message_id: required,
      room: required,
      room_type: required,
      notes: optional,
      created_at: required,
    },
    { collection: 'stars', versionKey: false },
  ).index({ user_address: 1, star_id: -1 }),
)
