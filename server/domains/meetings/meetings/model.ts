import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** A meeting, or the permanent room of an account. */
export interface StoredMeeting {
  _id: string
  /** The id of its room at the provider. */
  room_id: string
  host_wallet_address: string
  title: string
  max_participants: number
  join_code: string
  status: 'active' | 'ended' | 'expired'
  created_at: Date
  /** Null of a permanent room, which never expires. */
  expires_at: Date | null
  ended_at: Date | null
  /** The account whose permanent room it is; absent of others. */
  permanent_of?: string
}

/** Rows of meetings are kept for so long. */
const keptSeconds = 30 * 86_400

export const Meetings = defineModel<StoredMeeting>(
  'Meetings',
  {
    shares: [
      { owner: 'host_wallet_address', becomes: 'erase' },
      { owner: 'permanent_of', becomes: 'erase', archive: false },
    ],
    archive: 'meetings',
  },
  new Schema<StoredMeeting>(
    {
      _id: required,
      room_id: required,
      host_wallet_address: required,
      title: required,
      max_participants: { type: Number, required: true },
      join_code: required,
      status: required,
      created_at: { type: Date, required: true },
      expires_at: { type: Date, default: null },
      ended_at: { type: Date, default: null },
      permanent_of: { type: String },
    },
    { collection: 'meetings', versionKey: false },
  )
    .index({ join_code: 1 }, { unique: true })
    .index({ room_id: 1 }, { unique: true })
    .index({ host_wallet_address: 1, status: 1, created_at: -1 })
    .index({ permanent_of: 1 }, { unique: true, partialFilterExpression: { permanent_of: { $exists: true } } })
    .index({ expires_at: 1 }, { expireAfterSeconds: keptSeconds }),
)

/** A place in a meeting of this server, held by a lease. */
export interface StoredSeat {
  /** The room and the number of the place, with a space between. */
  _id: string
  room_id: string
  /** The id of this visit. */
  peer: string
  identity: string
  name: string
  is_host: boolean
  /** The hashed address; absent in older rows. */
  from?: string
  until: Date
}

export const Seats = defineModel<StoredSeat>(
  'MeetingSeats',
  { shares: [{ owner: 'identity', becomes: 'erase' }], archive: { never: 'It is of a meeting under way.' } },
  new Schema<StoredSeat>(
    {
      _id: required,
      room_id: required,
      peer: required,
      identity: required,
      name: required,
      is_host: { type: Boolean, required: true },
      from: { type: String },
      until: { type: Date, required: true },
    },
    { collection: 'meeting_seats', versionKey: false },
  )
    .index({ peer: 1 }, { unique: true })
    .index({ room_id: 1, identity: 1 })
    .index({ identity: 1 })
    .index({ until: 1 }, { expireAfterSeconds: 0 }),
)

/** That somebody was removed from a meeting by its host, and until when they are not let in again. */
interface StoredRemoval {
  /** The room, and the person or their address, with a space between. */
  _id: string
  until: Date
}

export const Removals = defineModel<StoredRemoval>(
  'MeetingRemovals',
  { shares: [{ owner: '_id', becomes: 'erase', at: 'last word' }], archive: { never: 'It lapses with the meeting.' } },
  new Schema<StoredRemoval>(
    { _id: required, until: { type: Date, required: true } },
    { collection: 'meeting_removals', versionKey: false },
  ).index({ until: 1 }, { expireAfterSeconds: 0 }),
)
