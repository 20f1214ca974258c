import { Schema } from 'mongoose'
import { defineModel } from '#server/kernel/store/model'

/** Tokens of an owner's agents on one day, with reserved ones. */
export interface StoredTokenDay {
  /** The owner and the day (UTC); for an asker's share, after `by` and the asker. */
  _id: string
  tokens: number
  expires_at: Date
}

export const TokenDays = defineModel<StoredTokenDay>(
  'TokenDays',
  {
    shares: [{ owner: '_id', becomes: 'erase', at: 'inside' }],
    archive: { never: 'It is a count of a day, and lapses.' },
    stays: ['tokens'],
  },
  new Schema<StoredTokenDay>(
    {
      _id: { type: String, required: true },
      tokens: { type: Number, required: true },
      expires_at: { type: Date, required: true },
    },
    { collection: 'agent_token_days', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
