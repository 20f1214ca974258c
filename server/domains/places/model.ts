import mongoose, { Schema } from 'mongoose'
import { moment, required } from '#server/kernel/fields'

/** Where an account last said it is; `_id` is the account. */
export interface StoredClaim {
  _id: string
  /** The position, rounded and sealed. */
  position: string
  at: Date
  expires_at: Date
}

export const Claims = mongoose.model<StoredClaim>(
  'PositionClaims',
  new Schema<StoredClaim>(
    { _id: required, position: required, at: moment, expires_at: moment },
    { collection: 'position_claims', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

/** That an account has said to be at a place, and when last; `_id` is the place and the account. */
export interface StoredVisit {
  _id: string
  at: Date
  expires_at: Date
}

export const Visits = mongoose.model<StoredVisit>(
  'PlaceVisits',
  new Schema<StoredVisit>(
    { _id: required, at: moment, expires_at: moment },
    { collection: 'place_visits', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
