import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** A star on a message. It stores the message's place and no text, so deleted text is gone here too. */
export interface Star {
  /** The account and the message, separated by a space. */
  _id: string
  /** Ordered by time. */
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
