import { Schema } from 'mongoose'
import { later, moment, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { BroadcastTarget } from '#shared/api/platform/broadcasts'

/** A broadcast and its progress. */
export interface StoredBroadcast {
  _id: string
  message: string
  target: BroadcastTarget
  created_by: string
  created_at: Date
  /** The position of the next batch, in the order of ids; empty at first. */
  cursor: string
  /** Recipients whom a repeated batch is trying, once per unfinished try. */
  tried?: string[]
  total: number
  sent: number
  failed: number
  push_sent: number
  finished_at: Date | null
}

const count = { type: Number, default: 0 } as const

export const Broadcasts = defineModel<StoredBroadcast>(
  'Broadcasts',
  {
    shares: [
      { owner: 'created_by', becomes: 'unlink' },
      { owner: 'tried', becomes: 'unlink', archive: false },
      { owner: 'cursor', becomes: 'unlink', archive: false },
    ],
    archive: 'broadcasts',
    secret: ['cursor', 'tried'],
    stays: ['message', 'target'],
  },
  new Schema<StoredBroadcast>(
    {
      _id: required,
      message: required,
      target: required,
      created_by: required,
      created_at: moment,
      cursor: { type: String, default: '' },
      tried: { type: [String], default: undefined },
      total: count,
      sent: count,
      failed: count,
      push_sent: count,
      finished_at: later,
    } as object,
    { collection: 'broadcasts', versionKey: false },
  )
    .index({ created_by: 1 })
    .index({ created_at: -1 }),
)
