import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { Call, CallStatus } from '#shared/api/meetings/calls'

/** A call between two accounts. Times are ISO 8601, UTC. */
export interface StoredCall {
  _id: string
  caller_address: string
  callee_address: string
  call_type: Call['call_type']
  status: CallStatus
  channel_name: string | null
  started_at: string
  /** When the callee answered here; null if unknown. */
  answered_at: string | null
  ended_at: string | null
  duration_seconds: number
  created_at: string
  /** The call was reported afterwards and never rang here; absent in older rows. */
  is_note?: boolean
  /** A note by an account that may not ring the callee, who does not see it. */
  is_unasked?: boolean
}

export const Calls = defineModel<StoredCall>(
  'Calls',
  {
    shares: [
      { owner: 'caller_address', becomes: 'erase', hides: ['is_unasked'] },
      { owner: 'callee_address', becomes: 'erase', unless: { is_unasked: true } },
    ],
    archive: 'calls',
  },
  new Schema<StoredCall>(
    {
      _id: required,
      caller_address: required,
      callee_address: required,
      call_type: required,
      status: required,
      channel_name: optional,
      started_at: required,
      answered_at: optional,
      ended_at: optional,
      duration_seconds: { type: Number, required: true },
      created_at: required,
      is_note: { type: Boolean },
      is_unasked: { type: Boolean },
    },
    { collection: 'calls', versionKey: false },
  )
    .index({ caller_address: 1, _id: -1 })
    .index({ callee_address: 1, _id: -1 }),
)
