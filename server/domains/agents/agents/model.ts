import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

export interface StoredFavorite {
  /** `account agent` */
  _id: string
  favorite_id: string
  user_address: string
  agent_id: string
  /** The number among the account's favorites. */
  place?: number
  created_at: Date
}

export const Favorites = defineModel<StoredFavorite>(
  'AgentFavorites',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'agents' },
  new Schema<StoredFavorite>(
    {
      _id: required,
      favorite_id: required,
      user_address: required,
      agent_id: required,
      place: { type: Number },
      created_at: { type: Date, required: true },
    },
    { collection: 'agent_favorites', versionKey: false },
  )
    .index({ user_address: 1, created_at: -1 })
    .index({ user_address: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } })
    .index({ agent_id: 1 }),
)
