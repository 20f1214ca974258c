import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** The tag of one person on the other. */
export interface StoredTag {
  id: string
  tag: string | null
  emoji: string | null
  color: string | null
  created_at: string
  updated_at: string
}

/** The relation of two people in one row, so that each change is one write. No row means no relation. */
export interface Pair {
  /** The two account ids, sorted, with a space between. */
  _id: string
  state: 'pending' | 'friends'
  request_id: string
  from_address: string
  to_address: string
  memo: string | null
  /** The id of the friendship for each person. */
  from_friend_id: string
  to_friend_id: string
  /** The nickname that each person gave the other. */
  from_nickname: string | null
  to_nickname: string | null
  /** The tag that each person put on the other. Absent in rows of older versions. */
  from_tag?: StoredTag | null
  to_tag?: StoredTag | null
  asked_at: string
  changed_at: string
  /** Changes with each state, and is ordered by time. */
  version: string
}

export const Pairs = defineModel<Pair>(
  'Pairs',
  {
    shares: [
      { owner: 'from_address', becomes: 'erase', hides: ['to_nickname', 'to_tag', 'to_friend_id'] },
      { owner: 'to_address', becomes: 'erase', hides: ['from_nickname', 'from_tag', 'from_friend_id'] },
    ],
    archive: 'friends',
  },
  new Schema<Pair>(
    {
      _id: required,
      state: required,
      request_id: required,
      from_address: required,
      to_address: required,
      memo: optional,
      from_friend_id: required,
      to_friend_id: required,
      from_nickname: optional,
      to_nickname: optional,
      from_tag: { type: Schema.Types.Mixed },
      to_tag: { type: Schema.Types.Mixed },
      asked_at: required,
      changed_at: required,
      version: required,
    },
    { collection: 'friend_pairs', versionKey: false },
  )
    .index({ request_id: 1 }, { unique: true })
    .index({ from_friend_id: 1 }, { unique: true })
    .index({ to_friend_id: 1 }, { unique: true })
    .index({ from_address: 1, state: 1, version: -1 })
    .index({ to_address: 1, state: 1, version: -1 })
    .index({ asked_at: 1 }),
)
