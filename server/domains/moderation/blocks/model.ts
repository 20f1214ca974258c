import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** Blocks between accounts; they apply everywhere. */
export const Blocks = defineModel(
  'Blocks',
  {
    shares: [
      { owner: 'blocker_address', becomes: 'erase' },
      { owner: 'blocked_address', becomes: 'erase', archive: false },
    ],
    archive: 'social',
  },
  new Schema(
    {
      /** `blocker blocked` */
      _id: required,
      block_id: required,
      blocker_address: required,
      blocked_address: required,
      reason: { type: String, default: null },
      created_at: required,
    },
    { collection: 'blocks', versionKey: false, id: false },
  )
    .index({ blocker_address: 1, created_at: -1 })
    .index({ blocked_address: 1 }),
)
