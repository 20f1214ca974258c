import { Schema } from 'mongoose'
import { defineModel } from '#server/kernel/model'

/** The tokens that the answers of an owner's agents took on one day, and those that are set aside for answers under way. */
export interface StoredDay {
  /** The owner, and the day in UTC; before them, for the share of one asker, `by` and who that is. */
  _id: string
  tokens: number
  expires_at: Date
}

export const TokenDays = defineModel<StoredDay>(
  'TokenDays',
  {
    shares: [{ owner: '_id', becomes: 'erase', at: 'inside' }],
    archive: { never: 'It is a count of a day, and lapses.' },
    stays: ['tokens'],
  },
  new Schema<StoredDay>(
    {
      _id: { type: String, required: true },
      tokens: { type: Number, required: true },
      expires_at: { type: Date, required: true },
    },
    { collection: 'agent_token_days', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
