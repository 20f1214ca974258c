import { Schema } from 'mongoose'
import { moment, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

/** The last claimed position of an account; `_id` is the account. */
export interface StoredClaim {
  _id: string
  /** The position, rounded and sealed. */
  position: string
  at: Date
  expires_at: Date
}

export const Claims = defineModel<StoredClaim>(
  'PositionClaims',
  { shares: [{ owner: '_id', becomes: 'erase' }], archive: 'places', secret: ['position'] },
  new Schema<StoredClaim>(
    { _id: required, position: required, at: moment, expires_at: moment },
    { collection: 'position_claims', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

/** The last visit of an account at a place; `_id` is the place and the account. */
interface StoredVisit {
  _id: string
  at: Date
  expires_at: Date
}

export const Visits = defineModel<StoredVisit>(
  'PlaceVisits',
  {
    shares: [{ owner: '_id', becomes: 'erase', at: 'last word' }],
    archive: { never: 'It is a time of a day, and lapses.' },
  },
  new Schema<StoredVisit>(
    { _id: required, at: moment, expires_at: moment },
    { collection: 'place_visits', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
