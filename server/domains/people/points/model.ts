import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** One gift of points. Rows are only added, never changed or deleted. */
export interface StoredEntry {
  /** Ordered by time. */
  _id: string
  wallet_address: string
  /** The reason of the gift, once for each account. */
  claim: string
  points: number
  reason: string
  created_at: Date
}

export const PointEntries = defineModel<StoredEntry>(
  'PointEntries',
  { shares: [{ owner: 'wallet_address', becomes: 'erase' }], archive: 'points', stays: ['claim'] },
  new Schema<StoredEntry>(
    {
      _id: required,
      wallet_address: required,
      claim: required,
      points: { type: Number, required: true },
      reason: required,
      created_at: { type: Date, required: true },
    },
    { collection: 'point_entries', versionKey: false },
  )
    .index({ wallet_address: 1, claim: 1 }, { unique: true })
    .index({ wallet_address: 1, _id: -1 })
    .index({ created_at: 1, _id: 1 })
    .index({ reason: 1, points: 1, _id: 1 }),
)
